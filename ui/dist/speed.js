// src/dom.ts
function e(e, t = {}, ...n) {
	let r = document.createElement(e);
	for (let [e, n] of Object.entries(t)) r.setAttribute(e, n);
	return r.append(...n), r;
}
// src/speed/numbers.ts
var t = (e, t) => {
	let n = t >= 99.95 ? 0 : t >= 9.995 ? 1 : 2;
	return t.toLocaleString(e, {
		minimumFractionDigits: n,
		maximumFractionDigits: n
	});
}, n = (e, t) => t.toLocaleString(e, { maximumFractionDigits: 0 }), r = (e, r) => {
	if (r >= 9.95) return `${t(e, r)} s`;
	let i = r * 1e3;
	return `${i >= 10 || i === 0 ? n(e, i) : i.toLocaleString(e, { maximumFractionDigits: 1 })} ms`;
}, i = (e, t) => `${t.toLocaleString(e, {
	minimumFractionDigits: 1,
	maximumFractionDigits: 1
})} s`, a = (e, t) => `+${r(e, Math.max(0, t))}`, o = (e, n) => {
	let [r, i] = n >= 9995e5 ? [1e9, "Gbit/s"] : n >= 999500 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
	return `${t(e, n / r)} ${i}`;
}, s = (e, t) => {
	let [n, r] = t >= 9995e5 ? [1e9, "GB"] : [1e6, "MB"], i = t / n;
	return `${i.toLocaleString(e, { maximumFractionDigits: +(i < 10) })} ${r}`;
}, c = (e, t) => t.toLocaleString(e, { maximumFractionDigits: 2 }), l = (e, t) => t === 0 ? "0" : t >= 1 ? `${c(e, t)} s` : `${c(e, t * 1e3)} ms`, u = (e, t) => {
	if (t === 0) return "0";
	let [n, r] = t >= 1e9 ? [1e9, "Gbit/s"] : t >= 1e6 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
	return `${c(e, t / n)} ${r}`;
}, d = {
	en: "English",
	de: "Deutsch",
	fr: "Français",
	es: "Español"
}, f = {
	language: [
		"Language",
		"Sprache",
		"Langue",
		"Idioma"
	],
	title: [
		"What happens when your line is busy?",
		"Was passiert, wenn Ihre Leitung ausgelastet ist?",
		"Que se passe-t-il quand votre ligne est chargée ?",
		"¿Qué pasa cuando su línea está ocupada?"
	],
	intro: [
		"This test loads your line and measures how long everything else waits. That wait is what breaks up calls and makes games lag.",
		"Dieser Test lastet Ihre Leitung aus und misst, wie lange alles andere wartet. Dieses Warten lässt Anrufe abreißen und Spiele ruckeln.",
		"Ce test charge votre ligne et mesure l’attente de tout le reste. C’est cette attente qui hache les appels et ralentit les jeux.",
		"Esta prueba carga su línea y mide cuánto espera todo lo demás. Esa espera corta las llamadas y retrasa los juegos."
	],
	start: [
		"Start",
		"Starten",
		"Démarrer",
		"Empezar"
	],
	again: [
		"Test again",
		"Erneut testen",
		"Refaire le test",
		"Repetir la prueba"
	],
	stop: [
		"Stop",
		"Abbrechen",
		"Arrêter",
		"Detener"
	],
	cost: [
		"Takes about a minute and moves at most {}.",
		"Dauert etwa eine Minute und überträgt höchstens {}.",
		"Dure environ une minute et transfère au plus {}.",
		"Dura cerca de un minuto y transfiere {} como máximo."
	],
	budget: [
		"Data, at most",
		"Datenmenge höchstens",
		"Données, au plus",
		"Datos, como máximo"
	],
	consent: [
		"Show my result to everyone who opens this page today",
		"Mein Ergebnis heute allen zeigen, die diese Seite öffnen",
		"Montrer mon résultat aujourd’hui à tous les visiteurs de cette page",
		"Mostrar hoy mi resultado a quien abra esta página"
	],
	"consent-keep": [
		"Keep my result on this server, and show it today to everyone who opens this page",
		"Mein Ergebnis auf diesem Server behalten und heute allen zeigen, die diese Seite öffnen",
		"Garder mon résultat sur ce serveur et le montrer aujourd’hui à tous les visiteurs de cette page",
		"Guardar mi resultado en este servidor y mostrarlo hoy a quien abra esta página"
	],
	device: [
		"Name of this device",
		"Name dieses Geräts",
		"Nom de cet appareil",
		"Nombre de este dispositivo"
	],
	latency: [
		"Latency",
		"Latenz",
		"Latence",
		"Latencia"
	],
	download: [
		"Download",
		"Download",
		"Téléchargement",
		"Descarga"
	],
	upload: [
		"Upload",
		"Upload",
		"Envoi",
		"Subida"
	],
	"by-download": [
		"download",
		"Download",
		"téléchargement",
		"descarga"
	],
	"by-upload": [
		"upload",
		"Upload",
		"envoi",
		"subida"
	],
	throughput: [
		"Throughput",
		"Durchsatz",
		"Débit",
		"Velocidad"
	],
	responsiveness: [
		"Responsiveness",
		"Reaktionsrate",
		"Réactivité",
		"Capacidad de respuesta"
	],
	lag: [
		"Lag when busy",
		"Verzögerung unter Last",
		"Retard sous charge",
		"Retardo con carga"
	],
	moved: [
		"{} so far",
		"bisher {}",
		"{} jusqu’ici",
		"{} hasta ahora"
	],
	connecting: [
		"Connecting",
		"Verbinden",
		"Connexion",
		"Conectando"
	],
	idle: [
		"Idle",
		"Ruhe",
		"Repos",
		"En reposo"
	],
	down: [
		"Download",
		"Download",
		"Téléchargement",
		"Descarga"
	],
	up: [
		"Upload",
		"Upload",
		"Envoi",
		"Subida"
	],
	both: [
		"Both",
		"Beides",
		"Les deux",
		"Ambas"
	],
	drain: [
		"Afterwards",
		"Danach",
		"Après",
		"Después"
	],
	between: [
		"Waiting for the queue to empty",
		"Warten, bis sich die Warteschlange leert",
		"Attente du vidage de la file",
		"Esperando a que se vacíe la cola"
	],
	over: [
		"Done",
		"Fertig",
		"Terminé",
		"Hecho"
	],
	good: [
		"GOOD",
		"GUT",
		"BON",
		"BIEN"
	],
	fair: [
		"FAIR",
		"MITTEL",
		"MOYEN",
		"REGULAR"
	],
	bad: [
		"BAD",
		"SCHLECHT",
		"MAUVAIS",
		"MAL"
	],
	at_least_bad: [
		"AT LEAST BAD",
		"MINDESTENS SCHLECHT",
		"AU MOINS MAUVAIS",
		"MAL COMO MÍNIMO"
	],
	no_result: [
		"NO RESULT",
		"KEIN ERGEBNIS",
		"PAS DE RÉSULTAT",
		"SIN RESULTADO"
	],
	"bad-up": [
		"Your upload makes everything wait: {} when busy.",
		"Ihr Upload lässt alles warten: {} unter Last.",
		"Vos envois font tout attendre : {} sous charge.",
		"Su subida hace esperar a todo: {} con carga."
	],
	"bad-down": [
		"Your download makes everything wait: {} when busy.",
		"Ihr Download lässt alles warten: {} unter Last.",
		"Vos téléchargements font tout attendre : {} sous charge.",
		"Su descarga hace esperar a todo: {} con carga."
	],
	"bad-both": [
		"Everything waits when you upload and download at once: {} when busy.",
		"Alles wartet, wenn Sie gleichzeitig hoch- und herunterladen: {} unter Last.",
		"Tout attend quand vous envoyez et téléchargez à la fois : {} sous charge.",
		"Todo espera si sube y descarga a la vez: {} con carga."
	],
	growing: [
		"Latency was still growing at the end of the load: at least {} when busy.",
		"Die Latenz wuchs am Ende der Last noch: mindestens {} unter Last.",
		"La latence augmentait encore à la fin : au moins {} sous charge.",
		"La latencia aún crecía al final de la carga: al menos {} con carga."
	],
	responsive: [
		"This line stays responsive: {} when busy.",
		"Diese Leitung reagiert auch unter Last schnell: {}.",
		"Cette ligne reste réactive : {} sous charge.",
		"Esta línea responde bien: {} con carga."
	],
	"fair-line": [
		"This line has a problem: {} when busy. The report says which.",
		"Diese Leitung hat ein Problem: {} unter Last. Der Bericht sagt, welches.",
		"Cette ligne a un problème : {} sous charge. Le rapport dit lequel.",
		"Esta línea tiene un problema: {} con carga. El informe dice cuál."
	],
	late: [
		"Your browser was too busy to measure.",
		"Ihr Browser war zum Messen zu beschäftigt.",
		"Votre navigateur était trop occupé pour mesurer.",
		"Su navegador estaba demasiado ocupado para medir."
	],
	"late-remedy": [
		"Close other tabs and programs, or use another device.",
		"Schließen Sie andere Tabs und Programme, oder nehmen Sie ein anderes Gerät.",
		"Fermez les autres onglets et programmes, ou prenez un autre appareil.",
		"Cierre otras pestañas y programas, o use otro dispositivo."
	],
	unclear: [
		"The measurement shows no clear result.",
		"Die Messung zeigt kein klares Ergebnis.",
		"La mesure ne donne pas de résultat clair.",
		"La medición no da un resultado claro."
	],
	"unclear-remedy": [
		"Make sure that nobody else uses the line, and test again. The report has the reason.",
		"Achten Sie darauf, dass niemand sonst die Leitung nutzt, und testen Sie erneut. Der Bericht nennt den Grund.",
		"Vérifiez que vous êtes seul sur la ligne et recommencez. Le rapport donne la raison.",
		"Asegúrese de que nadie más use la línea y repita la prueba. El informe da el motivo."
	],
	calls: [
		"Calls",
		"Anrufe",
		"Appels",
		"Llamadas"
	],
	games: [
		"Games",
		"Spiele",
		"Jeux",
		"Juegos"
	],
	pages: [
		"Web pages",
		"Webseiten",
		"Pages web",
		"Páginas web"
	],
	video: [
		"Video",
		"Video",
		"Vidéo",
		"Vídeo"
	],
	"when-idle": [
		"idle",
		"in Ruhe",
		"au repos",
		"en reposo"
	],
	"when-busy": [
		"busy",
		"ausgelastet",
		"en charge",
		"con carga"
	],
	"calls-good": [
		"clear",
		"klar",
		"nets",
		"claras"
	],
	"calls-fair": [
		"lose quality",
		"weniger gut",
		"de qualité réduite",
		"pierden calidad"
	],
	"calls-poor": [
		"poor",
		"schlecht",
		"mauvais",
		"malas"
	],
	"calls-broken": [
		"break up",
		"reißen ab",
		"hachés",
		"se cortan"
	],
	"games-all": [
		"all work",
		"alle gehen",
		"tous jouables",
		"todos van bien"
	],
	"games-third_person": [
		"shooters lag",
		"Shooter ruckeln",
		"les jeux de tir ralentissent",
		"los de disparos se retrasan"
	],
	"games-from_above": [
		"most lag",
		"die meisten ruckeln",
		"la plupart ralentissent",
		"la mayoría se retrasa"
	],
	"games-by_turns": [
		"all lag",
		"alle ruckeln",
		"tous ralentissent",
		"todos se retrasan"
	],
	"pages-time": [
		"{} each",
		"je {}",
		"{} chacune",
		"{} cada una"
	],
	"video-good": [
		"4K",
		"4K",
		"4K",
		"4K"
	],
	"video-hd": [
		"HD",
		"HD",
		"HD",
		"HD"
	],
	"video-low": [
		"low quality",
		"niedrige Qualität",
		"basse qualité",
		"baja calidad"
	],
	"video-none": [
		"stalls",
		"stockt",
		"se bloque",
		"se detiene"
	],
	try: [
		"What to try",
		"Was Sie tun können",
		"Que faire",
		"Qué hacer"
	],
	"shape-up": [
		"On the router, turn on SQM (fq_codel or CAKE) and limit the upload to {}.",
		"Schalten Sie im Router SQM (fq_codel oder CAKE) ein, und begrenzen Sie den Upload auf {}.",
		"Sur le routeur, activez SQM (fq_codel ou CAKE) et limitez l’envoi à {}.",
		"En el router, active SQM (fq_codel o CAKE) y limite la subida a {}."
	],
	"shape-down": [
		"On the router, turn on SQM (fq_codel or CAKE) and limit the download to {}.",
		"Schalten Sie im Router SQM (fq_codel oder CAKE) ein, und begrenzen Sie den Download auf {}.",
		"Sur le routeur, activez SQM (fq_codel ou CAKE) et limitez le téléchargement à {}.",
		"En el router, active SQM (fq_codel o CAKE) y limite la descarga a {}."
	],
	shape: [
		"On the router, turn on SQM (fq_codel or CAKE).",
		"Schalten Sie im Router SQM (fq_codel oder CAKE) ein.",
		"Sur le routeur, activez SQM (fq_codel ou CAKE).",
		"En el router, active SQM (fq_codel o CAKE)."
	],
	"no-shape": [
		"A fixed limit in the router would not help on this line: the report says why.",
		"Eine feste Grenze im Router hilft bei dieser Leitung nicht: Der Bericht sagt, warum.",
		"Une limite fixe dans le routeur n’aiderait pas ici : le rapport dit pourquoi.",
		"Un límite fijo en el router no ayudaría en esta línea: el informe dice por qué."
	],
	cable: [
		"Test once by cable: if the lag is gone, it is your Wi-Fi.",
		"Testen Sie einmal per Kabel: Ist die Verzögerung weg, liegt es am WLAN.",
		"Testez une fois par câble : si le retard disparaît, c’est votre Wi-Fi.",
		"Pruebe una vez por cable: si el retardo desaparece, es su Wi-Fi."
	],
	nothing: [
		"Nothing: this line is fine.",
		"Nichts: Diese Leitung ist in Ordnung.",
		"Rien : cette ligne va bien.",
		"Nada: esta línea está bien."
	],
	longer: [
		"Allow more data, so that the test can last longer.",
		"Erlauben Sie mehr Daten, damit der Test länger dauern kann.",
		"Autorisez plus de données pour un test plus long.",
		"Permita más datos para una prueba más larga."
	],
	report: [
		"Full report",
		"Voller Bericht",
		"Rapport complet",
		"Informe completo"
	],
	json: [
		"Data (JSON)",
		"Daten (JSON)",
		"Données (JSON)",
		"Datos (JSON)"
	],
	share: [
		"Copy link",
		"Link kopieren",
		"Copier le lien",
		"Copiar enlace"
	],
	copied: [
		"Copied",
		"Kopiert",
		"Copié",
		"Copiado"
	],
	past: [
		"Earlier results of this browser",
		"Frühere Ergebnisse dieses Browsers",
		"Résultats précédents de ce navigateur",
		"Resultados anteriores de este navegador"
	],
	house: [
		"Tested here today",
		"Heute hier getestet",
		"Testés ici aujourd’hui",
		"Probados hoy aquí"
	],
	when: [
		"When",
		"Wann",
		"Quand",
		"Cuándo"
	],
	who: [
		"Device",
		"Gerät",
		"Appareil",
		"Dispositivo"
	],
	limits: [
		"What a browser cannot see",
		"Was ein Browser nicht sieht",
		"Ce qu’un navigateur ne voit pas",
		"Lo que un navegador no ve"
	],
	"limit-wifi": [
		"Your Wi-Fi: its rate, its signal, and its queue. Compare with a cable.",
		"Ihr WLAN: Rate, Signal und Warteschlange. Vergleichen Sie mit einem Kabel.",
		"Votre Wi-Fi : débit, signal et file d’attente. Comparez avec un câble.",
		"Su Wi-Fi: velocidad, señal y cola. Compare con un cable."
	],
	"limit-hops": [
		"The routers on the way, and which of them has the queue.",
		"Die Router auf dem Weg, und welcher die Warteschlange hat.",
		"Les routeurs du chemin, et lequel a la file d’attente.",
		"Los routers del camino y cuál tiene la cola."
	],
	"limit-host": [
		"The queue of this computer, and when packets leave it.",
		"Die Warteschlange dieses Computers, und wann Pakete ihn verlassen.",
		"La file de cet ordinateur, et le départ réel des paquets.",
		"La cola de este equipo y cuándo salen los paquetes."
	],
	"limit-fast": [
		"At several Gbit/s, whether the browser was the limit. The command line sees all of this: fathom test",
		"Bei mehreren Gbit/s, ob der Browser die Grenze war. Die Kommandozeile sieht all das: fathom test",
		"À plusieurs Gbit/s, si le navigateur était la limite. La ligne de commande voit tout cela : fathom test",
		"A varios Gbit/s, si el navegador era el límite. La línea de comandos ve todo esto: fathom test"
	],
	privacy: [
		"No account, no cookies, no third parties. The server keeps a result for a day.",
		"Kein Konto, keine Cookies, keine Dritten. Der Server bewahrt ein Ergebnis einen Tag auf.",
		"Ni compte, ni cookie, ni tiers. Le serveur garde un résultat un jour.",
		"Sin cuenta, sin cookies, sin terceros. El servidor guarda el resultado un día."
	],
	quality: [
		"Probes by {}. This browser was late by {} (median), {} (p99).",
		"Proben über {}. Dieser Browser war {} (Median), {} (p99) zu spät.",
		"Sondes par {}. Ce navigateur avait un retard de {} (médiane), {} (p99).",
		"Sondas por {}. Este navegador se retrasó {} (mediana), {} (p99)."
	],
	fallback: [
		"UDP is blocked here: probes travel by TCP, so a lost packet delays those behind it.",
		"UDP ist hier gesperrt: Proben laufen über TCP, ein verlorenes Paket verzögert also die folgenden.",
		"UDP est bloqué ici : les sondes passent par TCP, un paquet perdu retarde donc les suivants.",
		"UDP está bloqueado aquí: las sondas van por TCP y un paquete perdido retrasa a los siguientes."
	],
	hidden: [
		"The page was in the background for {}. Browsers slow such pages down.",
		"Die Seite war {} im Hintergrund. Browser bremsen solche Seiten.",
		"La page était en arrière-plan pendant {}. Les navigateurs ralentissent ces pages.",
		"La página estuvo {} en segundo plano. Los navegadores frenan esas páginas."
	],
	offline: [
		"The server cannot be reached.",
		"Der Server ist nicht erreichbar.",
		"Le serveur est injoignable.",
		"No se puede alcanzar el servidor."
	],
	"offline-remedy": [
		"Check that this device is online and that the server runs, then test again.",
		"Prüfen Sie, ob dieses Gerät online ist und der Server läuft, und testen Sie erneut.",
		"Vérifiez que cet appareil est en ligne et que le serveur tourne, puis recommencez.",
		"Compruebe que este dispositivo tiene conexión y que el servidor funciona, y repita la prueba."
	],
	refused: [
		"The server refused the test: {}.",
		"Der Server hat den Test abgelehnt: {}.",
		"Le serveur a refusé le test : {}.",
		"El servidor rechazó la prueba: {}."
	],
	"refused-remedy": [
		"Try again in a minute.",
		"Versuchen Sie es in einer Minute erneut.",
		"Réessayez dans une minute.",
		"Inténtelo de nuevo en un minuto."
	],
	lost: [
		"The connection to the server broke during the test.",
		"Die Verbindung zum Server brach während des Tests ab.",
		"La connexion au serveur s’est rompue pendant le test.",
		"La conexión con el servidor se cortó durante la prueba."
	],
	blocked: [
		"Neither UDP nor a WebSocket reaches the server.",
		"Weder UDP noch ein WebSocket erreicht den Server.",
		"Ni UDP ni WebSocket n’atteignent le serveur.",
		"Ni UDP ni WebSocket llegan al servidor."
	],
	"blocked-remedy": [
		"A firewall or a proxy is in the way. Ask for UDP to this server, or use another network.",
		"Eine Firewall oder ein Proxy steht im Weg. Bitten Sie um UDP zu diesem Server, oder nehmen Sie ein anderes Netz.",
		"Un pare-feu ou un proxy bloque. Demandez l’UDP vers ce serveur, ou changez de réseau.",
		"Un cortafuegos o un proxy lo impide. Pida UDP hacia este servidor o use otra red."
	],
	chart: [
		"Latency and throughput over time",
		"Latenz und Durchsatz im Lauf der Zeit",
		"Latence et débit au fil du temps",
		"Latencia y velocidad a lo largo del tiempo"
	]
}, ee = [
	"en",
	"de",
	"fr",
	"es"
], p = (e) => e.map((e) => e.slice(0, 2).toLowerCase()).find((e) => e in d) ?? "en", m = (e, t, ...n) => {
	let r = [...n];
	return f[t][ee.indexOf(e)].replaceAll("{}", () => r.shift() ?? "");
}, te = (e) => e in f;
Object.keys(f);
// src/speed/chart.ts
var h = 74, ne = 14, g = 30, re = 22, ie = 30, ae = .02, oe = 1e6, se = {
	idle: "--idle",
	down: "--down",
	up: "--up",
	both: "--both",
	drain: "--drain"
}, _ = (e) => {
	let t = 10 ** Math.floor(Math.log10(e));
	return t * ([
		1,
		2,
		5,
		10
	].find((n) => n * t >= e * .9999) ?? 10);
}, ce = class {
	canvas;
	language;
	latency = [];
	down = [];
	up = [];
	spans = [];
	elapsed = 0;
	lastAnswer = -1;
	isDue = !1;
	constructor(e, t) {
		this.canvas = e, this.language = t, new ResizeObserver(() => this.draw()).observe(e), matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
	}
	clear() {
		[this.latency, this.down, this.up, this.spans] = [
			[],
			[],
			[],
			[]
		], [this.elapsed, this.lastAnswer] = [0, -1], this.draw();
	}
	add(e) {
		let t = e.elapsedMs / 1e3;
		this.elapsed = Math.max(this.elapsed, t), e.delayUs > 0 && e.answeredMs > this.lastAnswer && (this.lastAnswer = e.answeredMs, this.latency.push({
			at: e.answeredMs / 1e3,
			value: e.delayUs / 1e6
		})), this.spans.at(-1)?.stage !== e.stage && this.spans.push({
			stage: e.stage,
			from: t
		});
		let n = (n, r, i) => {
			i.includes(e.stage) ? n.push({
				at: t,
				value: r * 1e3
			}) : n.length > 0 && !Number.isNaN(n.at(-1)?.value) && n.push({
				at: t,
				value: NaN
			});
		};
		n(this.down, e.downKbit, ["down", "both"]), n(this.up, e.upKbit, ["up", "both"]), this.isDue || (this.isDue = !0, requestAnimationFrame(() => {
			this.isDue = !1, this.draw();
		}));
	}
	draw() {
		let { clientWidth: e, clientHeight: t } = this.canvas, n = this.canvas.getContext("2d");
		if (!n || e === 0) return;
		let r = devicePixelRatio || 1;
		(this.canvas.width !== Math.round(e * r) || this.canvas.height !== Math.round(t * r)) && (this.canvas.width = Math.round(e * r), this.canvas.height = Math.round(t * r)), n.setTransform(r, 0, 0, r, 0, 0), n.clearRect(0, 0, e, t);
		let i = getComputedStyle(this.canvas), a = (e) => i.getPropertyValue(e).trim();
		n.font = `12px ${i.fontFamily}`;
		let o = Math.max(ie, this.elapsed), s = (t) => h + (e - h - ne) * t / o, c = (t - 60 - re) / 2;
		this.drawPhases(n, s, t, a);
		let d = {
			top: g,
			height: c,
			least: ae,
			format: (e) => l(this.language, e)
		}, f = {
			top: 60 + c,
			height: c,
			least: oe,
			format: (e) => u(this.language, e)
		};
		this.drawPlot(n, s, d, m(this.language, "latency"), [[
			this.latency,
			a("--latency"),
			!0
		]], a), this.drawPlot(n, s, f, m(this.language, "throughput"), [[
			this.down,
			a("--down"),
			!1
		], [
			this.up,
			a("--up"),
			!1
		]], a), this.drawTime(n, s, o, t, a);
	}
	drawPhases(e, t, n, r) {
		this.spans.forEach(({ stage: i, from: a }, o) => {
			let s = se[i];
			if (!s) return;
			let [c, l] = [t(a), t(this.spans[o + 1]?.from ?? this.elapsed)];
			e.fillStyle = r(s), e.globalAlpha = .1, e.fillRect(c, 18, l - c, n - g - re + 12), e.globalAlpha = 1, e.textAlign = "left";
			let u = m(this.language, i);
			e.measureText(u).width < l - c - 4 && e.fillText(u, c + 3, 15);
		});
	}
	drawPlot(e, t, { top: n, height: r, least: i, format: a }, o, s, c) {
		let l = _(Math.max(i, ...s.flatMap(([e]) => e.map(({ value: e }) => e).filter(Number.isFinite)))), u = (e) => n + r * (1 - e / l);
		e.strokeStyle = c("--hair"), e.lineWidth = 1, e.textAlign = "right";
		for (let t of [
			0,
			.5,
			1
		]) {
			let n = Math.round(u(l * t)) + .5;
			e.beginPath(), e.moveTo(h, n), e.lineTo(this.canvas.clientWidth - ne, n), e.stroke(), e.fillStyle = c("--dim"), e.fillText(a(l * t), 69, n + 4);
		}
		e.textAlign = "left", e.fillStyle = c("--ink"), e.fillText(o, 78, n + 13);
		for (let [n, r, i] of s) {
			e.strokeStyle = e.fillStyle = r, e.lineWidth = 1.8, e.beginPath();
			let a = !1;
			for (let { at: r, value: o } of n) i && e.fillRect(t(r) - 1, u(o) - 1, 2, 2), Number.isNaN(o) ? a = !1 : a ? e.lineTo(t(r), u(o)) : e.moveTo(t(r), u(o)), a = !Number.isNaN(o);
			e.stroke();
		}
	}
	drawTime(e, t, n, r, i) {
		let a = _(n / 6);
		e.textAlign = "center", e.fillStyle = i("--dim");
		for (let i = 0; i <= n; i += a) e.fillText(`${i} s`, t(i), r - 5);
	}
}, le = 48, v = 1, y = [
	"between",
	"idle",
	"down",
	"up",
	"both",
	"drain",
	"over"
], ue = (e) => {
	if (e.byteLength !== 32) return;
	let t = new DataView(e), n = y[t.getUint8(1)];
	if (t.getUint8(0) !== v || n === void 0) return;
	let r = (e) => t.getUint32(e);
	return {
		stage: n,
		phase: t.getUint16(2),
		sequence: r(4),
		elapsedMs: r(8),
		answeredMs: r(12),
		delayUs: r(16),
		downKbit: r(20),
		upKbit: r(24),
		movedKilobytes: r(28)
	};
}, de = (e) => {
	let t = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(le));
	return t.setUint8(0, v), [
		e.sequence,
		e.received,
		e.lateUs
	].forEach((e, n) => t.setUint32(4 + 4 * n, e)), [
		e.receivedUs,
		e.sentUs,
		e.downBytes,
		e.countedUs
	].forEach((e, n) => t.setBigUint64(16 + 8 * n, BigInt(Math.max(0, Math.round(e))))), t.buffer;
}, b = () => (performance.timeOrigin + performance.now()) * 1e3, x = 10, fe = 4294967295, pe = class {
	channel;
	pass;
	received = 0;
	count = {
		bytes: 0,
		atUs: 0
	};
	late = 0;
	waiting = [];
	timer;
	constructor(e, t) {
		this.channel = e, this.pass = t, e.binaryType = "arraybuffer", e.onmessage = ({ data: e }) => this.take(e);
		let n = b() + x * 1e3;
		this.timer = setInterval(() => {
			let e = b();
			this.late = Math.max(this.late, e - n), n = Math.max(n, e) + x * 1e3, this.answer();
		}, x);
	}
	setCount(e) {
		this.count = e;
	}
	close() {
		clearInterval(this.timer), this.channel.onmessage = null;
	}
	take(e) {
		let t = b(), n = e instanceof ArrayBuffer ? ue(e) : void 0;
		n && (this.received += 1, this.waiting.push({
			sequence: n.sequence,
			received: this.received,
			receivedUs: t
		}), this.answer(), this.pass(n));
	}
	answer() {
		let e = this.channel.bufferedAmount === 0 ? this.waiting.shift() : void 0;
		e && (this.channel.send(de({
			...e,
			lateUs: Math.min(fe, Math.max(0, Math.round(this.late))),
			sentUs: b(),
			downBytes: this.count.bytes,
			countedUs: this.count.atUs
		})), this.late = 0);
	}
}, me = 6e3, he = 1e3, S = class extends Error {}, ge = async (e, t) => {
	let { loads: n, ...r } = (typeof RTCPeerConnection == "function" ? await ye(e, t) : void 0) ?? await Ce(e, t), i = new Worker("/page/load.js", { type: "module" });
	return i.postMessage({
		url: `/page/load/${r.id}`,
		probes: n
	}, [n]), {
		...r,
		close: () => {
			i.terminate(), r.close();
		}
	};
}, _e = async (e, t) => {
	let n = await fetch(`/page/test?bytes=${e}`, {
		method: "POST",
		body: t
	}), r = await n.text();
	if (!n.ok) throw new S(r.trim());
	let i = r.indexOf("\n");
	return {
		id: r.slice(0, i),
		answer: r.slice(i + 1)
	};
}, ve = (e) => new Promise((t) => {
	setTimeout(t, he), e.onicegatheringstatechange = () => e.iceGatheringState === "complete" && t();
}), ye = async (e, t) => {
	let { port1: n, port2: r } = new MessageChannel(), i = new RTCPeerConnection(), a = i.createDataChannel("probes", {
		ordered: !1,
		maxRetransmits: 0
	}), o = xe(a, n, t) ?? Se(a, n, t), s = () => {
		o.close(), i.close();
	};
	await i.setLocalDescription(), await ve(i);
	let { id: c, answer: l } = await _e(e, i.localDescription?.sdp ?? "");
	if (!l) s();
	else {
		if (await i.setRemoteDescription({
			type: "answer",
			sdp: l
		}), await be(i)) return {
			id: c,
			transport: "webrtc",
			loads: r,
			close: s
		};
		s();
	}
}, be = (e) => new Promise((t) => {
	setTimeout(() => t(!1), me), e.onconnectionstatechange = () => {
		e.connectionState === "connected" && t(!0), e.connectionState === "failed" && t(!1);
	};
}), xe = (e, t, n) => {
	let r = new Worker("/page/probe.js", { type: "module" });
	try {
		r.postMessage({
			channel: e,
			loads: t
		}, [e, t]);
	} catch {
		r.terminate();
		return;
	}
	return r.onmessage = ({ data: e }) => {
		e === "closed" ? n.closed() : e !== "ready" && n.probe(e);
	}, { close: () => r.terminate() };
}, Se = (e, t, n) => {
	let r = new pe(e, (e) => {
		t.postMessage(e.stage), n.probe(e);
	});
	return t.onmessage = ({ data: e }) => r.setCount(e), e.onclose = () => n.closed(), { close: () => {
		e.onclose = null, r.close();
	} };
}, Ce = async (e, t) => {
	let { port1: n, port2: r } = new MessageChannel(), { id: i } = await _e(e, ""), a = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/page/socket/${i}`), o = Se(a, n, t);
	return await new Promise((e, t) => {
		a.onopen = () => e(), a.onerror = () => t(new S(""));
	}), {
		id: i,
		transport: "websocket",
		loads: r,
		close: () => {
			o.close(), a.close();
		}
	};
}, C = "fathom-results", we = 20, Te = (e) => {
	let { id: t, at: n, level: r } = e ?? {};
	return typeof t == "string" && typeof n == "number" && typeof r == "string";
}, w = () => {
	try {
		let e = JSON.parse(localStorage.getItem(C) ?? "[]");
		return Array.isArray(e) ? e.filter(Te).slice(0, we) : [];
	} catch {
		return [];
	}
}, Ee = (e) => {
	try {
		localStorage.setItem(C, JSON.stringify([e, ...w()].slice(0, we)));
	} catch {}
}, T = (e) => {
	try {
		return localStorage.getItem(e);
	} catch {
		return null;
	}
}, E = (e, t) => {
	try {
		localStorage.setItem(e, t);
	} catch {}
}, De = [
	[4.02, "calls-good"],
	[3.6, "calls-fair"],
	[3.1, "calls-poor"]
], Oe = [
	[2e7, "video-good"],
	[5e6, "video-hd"],
	[1e6, "video-low"]
], ke = [
	"all",
	"third_person",
	"from_above",
	"by_turns"
], D = (e) => e.verdict.level ?? "no_result", O = ({ summary: e, verdict: t }) => {
	let n = {
		up: e.lag_up_s,
		down: e.lag_down_s,
		both: e.lag_both_s
	}, r = Object.values(n).filter((e) => e !== void 0);
	return n[t.phase ?? ""] ?? (r.length > 0 ? Math.max(...r) : void 0);
}, Ae = (e) => /late|cpu|probes_left_out/.test(e.verdict.reason?.kind ?? ""), je = (e, t) => {
	let n = a(e, O(t) ?? 0);
	switch (D(t)) {
		case "good": return m(e, "responsive", n);
		case "fair": return e === "en" ? t.verdict.headline : m(e, "fair-line", n);
		case "at_least_bad": return m(e, "growing", n);
		case "no_result": return m(e, Ae(t) ? "late" : "unclear");
		case "bad": {
			let r = t.verdict.phase;
			return m(e, r === "up" ? "bad-up" : r === "down" ? "bad-down" : "bad-both", n);
		}
	}
}, Me = (e) => De.find(([t]) => e >= t)?.[1] ?? "calls-broken", Ne = (e) => Oe.find(([t]) => e >= t)?.[1] ?? "video-none", Pe = (e, { summary: t, verdict: n }) => {
	let r = (e) => t.phases.find(({ phase: t }) => t === e), [a, o] = [r("idle"), r(n.phase)];
	if (!a || !o) return [];
	let s = (e, t) => t(e) ?? "–", c = ({ call_mos: t }) => t === void 0 ? void 0 : m(e, Me(t)), l = ({ games: t }) => t !== void 0 && ke.includes(t) ? m(e, `games-${t}`) : void 0, u = ({ page_load_s: t }) => t === void 0 ? void 0 : m(e, "pages-time", i(e, t)), d = (t) => t === void 0 ? "–" : m(e, Ne(t)), [f, ee] = [t.goodput_down_bits_per_second, r("both")?.goodput_down_bits_per_second], p = (t, n) => [
		m(e, t),
		s(a, n),
		s(o, n)
	];
	return [
		p("calls", c),
		p("games", l),
		p("pages", u),
		[
			m(e, "video"),
			d(f),
			d(ee)
		]
	];
}, Fe = (e, t, n) => `${o(e, t)} – ${o(e, n)}`, Ie = (e, t) => {
	let n = t.advice.flatMap((t) => {
		let { action: n, direction: r, min_bits_per_second: i, max_bits_per_second: a } = t;
		return n === "shape" && r && i && a ? [m(e, `shape-${r}`, Fe(e, i, a))] : n === "shape" ? [m(e, "shape")] : n === "do_not_shape" ? [m(e, "no-shape")] : n === "load_longer" ? [m(e, "longer")] : n === "use_quiet_machine" ? [m(e, "late-remedy")] : [];
	}), r = D(t);
	return r === "no_result" && n.length === 0 && n.push(m(e, Ae(t) ? "late-remedy" : "unclear-remedy")), (r === "bad" || r === "at_least_bad") && n.push(m(e, "cable")), [...new Set(n.length > 0 ? n : [m(e, "nothing")])];
}, Le = (e, { summary: t }) => {
	let n = m(e, "by-upload"), i = m(e, "by-download"), s = (e, t) => e.flatMap(([e, n]) => e === void 0 ? [] : [`${t(e)} ${n}`]).join(", ") || "–", c = t.idle_p50_s === void 0 ? "" : ` (${m(e, "when-idle")} ${r(e, t.idle_p50_s)})`, l = s([[t.lag_up_s, n], [t.lag_down_s, i]], (t) => a(e, t)), u = [[t.goodput_up_bits_per_second, n], [t.goodput_down_bits_per_second, i]], d = t.responsiveness_rpm;
	return {
		lag: l + c,
		throughput: s(u, (t) => o(e, t)),
		responsiveness: d === void 0 ? "–" : `${Math.round(d).toLocaleString(e)} RPM${t.grade ? `, ${t.grade}` : ""}`
	};
}, Re = [
	5e7,
	25e7,
	1e9,
	4e9
], ze = 1e9, Be = 5e7, Ve = 15e3, He = 400, Ue = 35e3, We = 4e3, Ge = 2e3, k = [
	"idle",
	"down",
	"up",
	"both",
	"drain"
], A = (e) => document.getElementById(e), [j, M, Ke, N] = [
	"start",
	"run",
	"result",
	"failure"
].map((e) => A(e)), qe = T("language") ?? "", P = qe in d ? qe : p(navigator.languages), F = new ce(A("chart"), P), I, L, R, z, B = 0, V = 0, H = 0, U = (e, ...t) => m(P, e, ...t), W = navigator.connection, Je = W?.saveData === !0 || W?.type === "cellular", G = Je ? "fathom-budget-metered" : "fathom-budget", K = (e) => {
	for (let t of [
		j,
		M,
		Ke,
		N
	]) t && (t.hidden = t !== e);
	A("picture").hidden = e === j || e === N && !z;
}, Ye = () => {
	document.documentElement.lang = P;
	for (let e of document.querySelectorAll("[data-word]")) {
		let t = e.dataset.word ?? "";
		te(t) && (e.textContent = U(t));
	}
	document.title = `Fathom: ${U("title")}`, A("chart").setAttribute("aria-label", U("chart")), F.language = P, F.draw(), Xe(), J(), st(), R && nt(R.id, R.result, R.transport), ct();
}, q = () => Number(A("budget").value), Xe = () => {
	let t = A("budget"), n = Number(t.value || T(G) || (Je ? Be : ze)), r = Re.map((t) => {
		let r = e("option", { value: String(t) }, s(P, t));
		return r.selected = t === n, r;
	});
	t.replaceChildren(...r), A("cost").textContent = U("cost", s(P, q()));
}, J = () => {
	let t = z ? k.indexOf(z) : -1, n = z ? y.indexOf(z) : 0, r = k.map((r, i) => {
		let a = e("li", {}, U(r));
		return i === t && a.setAttribute("aria-current", "step"), a.classList.toggle("done", y.indexOf(r) < n || Y > i), a;
	});
	A("phases").replaceChildren(...r);
}, Y = 0, Ze = (e) => {
	if (z === e) return;
	z = e;
	let t = k.indexOf(e);
	Y = t >= 0 ? t : e === "over" ? k.length : Math.max(Y, 1);
	let n = U(e);
	A("stage").textContent = n, A("said").textContent = n, J();
}, Qe = (e) => {
	B = Date.now(), Ze(e.stage), F.add(e), e.delayUs > 0 && (A("live-latency").textContent = r(P, e.delayUs / 1e6));
	let t = (t) => t.includes(e.stage);
	t(["down", "both"]) && (A("live-down").textContent = o(P, e.downKbit * 1e3)), t(["up", "both"]) && (A("live-up").textContent = o(P, e.upKbit * 1e3)), A("moved").textContent = U("moved", s(P, e.movedKilobytes * 1e3)), e.stage === "over" && X(!1);
}, X = (e) => {
	let t = L, n = I?.id;
	L = void 0, t && n && t(n, e);
}, $e = async () => {
	[z, Y, R, V, H] = [
		void 0,
		0,
		void 0,
		0,
		document.hidden ? Date.now() : 0
	], E(G, String(q())), F.clear();
	for (let e of [
		"live-latency",
		"live-down",
		"live-up"
	]) A(e).textContent = "–";
	A("moved").textContent = "", A("quality").textContent = "", A("stage").textContent = U("connecting"), J(), K(M), A("stage").focus();
	let e, t = new Promise((t) => {
		L = (n, r) => t(e = [n, r]);
	}), n = setInterval(() => void et().then((e) => e && X(!0)), Ge);
	try {
		B = Date.now(), I = await ge(q(), {
			probe: Qe,
			closed: () => X(!0)
		}), z === "over" && !e && X(!1);
		let [n, r] = await t, { transport: i } = I;
		I.close();
		let a = await tt(n);
		if (!a || r && a.summary.phases.length === 0) return Z("lost", "offline-remedy");
		document.hidden && H && (V += Date.now() - H), nt(n, a, i), it(n, a), await lt(n), A("headline").focus();
	} catch (e) {
		if (I?.close(), !(e instanceof S)) return Z("offline", "offline-remedy");
		if (!e.message) return Z("blocked", "blocked-remedy");
		Z("refused", "refused-remedy", e.message.replace(/\.$/, ""));
	} finally {
		clearInterval(n), I = void 0;
	}
}, et = async () => {
	let e = Date.now() - B;
	if (!I || e < We) return !1;
	let t = await fetch(`/page/result/${I.id}`).then(({ status: e }) => e, () => 0);
	return e > Ue || (t === 0 || t === 404) && Date.now() - B >= e;
}, tt = async (e) => {
	let t = Date.now() + Ve;
	for (; Date.now() < t;) {
		let t = await fetch(`/page/result/${e}`).catch(() => void 0);
		if (t?.status === 200) return await t.json();
		if (!t || t.status === 404) return;
		await new Promise((e) => setTimeout(e, He));
	}
}, Z = (e, t, ...n) => {
	A("problem").textContent = U(e, ...n), A("remedy").textContent = U(t), K(N);
}, nt = (t, n, r) => {
	R = {
		id: t,
		result: n,
		transport: r
	};
	let i = D(n);
	A("card").dataset.level = i, A("level").textContent = U(i), A("headline").textContent = je(P, n);
	let a = A("consequence");
	a.textContent = P === "en" ? n.verdict.consequence ?? "" : "", i === "no_result" && P === "en" && (a.textContent = n.verdict.headline);
	let o = Le(P, n);
	A("lag").textContent = o.lag, A("throughput").textContent = o.throughput, A("responsiveness").textContent = o.responsiveness;
	let s = Pe(P, n).map(([t, n, r]) => e("tr", {}, e("th", { scope: "row" }, t), e("td", {}, n), e("td", {}, r))), c = e("tr", {}, e("td"), e("th", { scope: "col" }, U("when-idle")), e("th", { scope: "col" }, U("when-busy")));
	A("uses").replaceChildren(...s.length > 0 ? [c, ...s] : []), A("advice").replaceChildren(...Ie(P, n).map((t) => e("li", {}, t))), A("report").href = `/result/${t}`;
	let l = A("json");
	l.href = `/result/${t}.json`, l.download = `fathom-${n.started.slice(0, 10) || t}.json`, rt(n, r), F.draw(), K(Ke);
}, rt = (e, t) => {
	let [n, i] = [e.late_p50_s ?? 0, e.late_p99_s ?? 0].map((e) => r(P, e)), a = [U("quality", t === "webrtc" ? "WebRTC (UDP)" : "WebSocket (TCP)", n ?? "", i ?? "")];
	t !== "webrtc" && a.push(U("fallback")), V > 1e3 && a.push(U("hidden", r(P, V / 1e3))), A("quality").textContent = a.join(" ");
}, it = (e, t) => {
	Ee({
		id: e,
		at: Date.now(),
		level: D(t),
		lagS: O(t) ?? null,
		upBits: t.summary.goodput_up_bits_per_second ?? null,
		downBits: t.summary.goodput_down_bits_per_second ?? null
	}), st();
}, at = (e) => new Date(e).toLocaleString(P, {
	dateStyle: "short",
	timeStyle: "short"
}), ot = (...t) => e("tr", {}, ...t.map((t) => e("th", { scope: "col" }, U(t)))), Q = (e, t) => e == null ? "–" : t(e), st = () => {
	let t = w();
	A("past").hidden = t.length === 0;
	let n = t.map(({ at: t, level: n, lagS: r, upBits: i, downBits: s }) => e("tr", { "data-level": n }, e("td", {}, at(t)), e("td", { class: "level" }, te(n) ? U(n) : ""), e("td", {}, Q(r, (e) => a(P, e))), e("td", {}, Q(s, (e) => o(P, e))), e("td", {}, Q(i, (e) => o(P, e)))));
	A("history").replaceChildren(ot("when", "lag", "lag", "download", "upload"), ...n), A("history").querySelector("th:nth-child(2)")?.replaceChildren();
}, ct = async () => {
	let t = await fetch("/page/devices").catch(() => void 0), { keeps: n, devices: r } = t?.ok ? await t.json() : {
		keeps: !1,
		devices: []
	};
	A("consent-text").textContent = U(n ? "consent-keep" : "consent"), A("house").hidden = r.length === 0;
	let i = r.map(({ name: t, result: n }) => e("tr", { "data-level": D(n) }, e("td", {}, t), e("td", { class: "level" }, U(D(n))), e("td", {}, Q(O(n), (e) => a(P, e))), e("td", {}, Q(n.summary.goodput_down_bits_per_second, (e) => o(P, e))), e("td", {}, Q(n.summary.goodput_up_bits_per_second, (e) => o(P, e)))));
	A("devices").replaceChildren(ot("who", "lag", "lag", "download", "upload"), ...i), A("devices").querySelector("th:nth-child(2)")?.replaceChildren();
}, lt = async (e) => {
	if (A("consent").checked) {
		let t = A("device").value.trim();
		E("fathom-device", t), await fetch(`/page/publish/${e}`, {
			method: "POST",
			body: t
		}).catch(() => void 0);
	}
	await ct();
}, ut = async () => {
	let e = A("report").href;
	await navigator.clipboard?.writeText(e).then(() => A("shared").textContent = U("copied"), () => A("shared").textContent = e) ?? (A("shared").textContent = e);
}, $ = A("language");
for (let [t, n] of Object.entries(d)) {
	let r = e("option", {
		value: t,
		lang: t
	}, n);
	r.selected = t === P, $.append(r);
}
$.onchange = () => {
	P = $.value, E("language", P), Ye();
}, A("budget").onchange = () => {
	E(G, String(q())), Xe();
};
var dt = A("consent");
dt.onchange = () => A("naming").hidden = !dt.checked, A("device").value = T("fathom-device") ?? "";
for (let e of [
	"go",
	"again",
	"retry"
]) A(e).onclick = () => void $e();
A("stop").onclick = () => X(!0), A("share").onclick = () => void ut(), document.addEventListener("visibilitychange", () => {
	document.hidden ? H = Date.now() : H &&= (V += Date.now() - H, 0);
}), Ye(), K(j);
