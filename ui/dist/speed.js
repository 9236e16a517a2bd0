// src/dom.ts
function e(e, t = {}, ...n) {
	let r = document.createElement(e);
	for (let [e, n] of Object.entries(t)) r.setAttribute(e, n);
	return r.append(...n), r;
}
var t = (e) => {
	let t = 10 ** Math.floor(Math.log10(e));
	return t * ([
		1,
		2,
		5,
		10
	].find((n) => n * t >= e * .9999) ?? 10);
}, n = (e) => {
	let { clientWidth: t, clientHeight: n } = e, r = e.getContext("2d");
	if (!r || t === 0) return;
	let i = devicePixelRatio || 1, [a, o] = [Math.round(t * i), Math.round(n * i)];
	(e.width !== a || e.height !== o) && ([e.width, e.height] = [a, o]), r.setTransform(i, 0, 0, i, 0, 0), r.clearRect(0, 0, t, n);
	let s = getComputedStyle(e);
	return r.font = `12px ${s.fontFamily}`, {
		context: r,
		width: t,
		height: n,
		colour: (e) => s.getPropertyValue(e).trim()
	};
}, r = ({ context: e, width: n, colour: r }, i, { name: a, top: o, height: s, least: c, format: l }, u) => {
	let d = t(u.flatMap(({ points: e }) => e.map(({ value: e }) => e).filter(Number.isFinite)).reduce((e, t) => Math.max(e, t), c)), f = (e) => o + s * (1 - e / d);
	e.strokeStyle = r("--hair"), e.lineWidth = 1, e.textAlign = "right";
	for (let t of [
		0,
		.5,
		1
	]) {
		let i = Math.round(f(d * t)) + .5;
		e.beginPath(), e.moveTo(74, i), e.lineTo(n - 14, i), e.stroke(), e.fillStyle = r("--dim"), e.fillText(l(d * t), 69, i + 4);
	}
	e.textAlign = "left", e.fillStyle = r("--ink"), e.fillText(a, 78, o + 13);
	for (let { points: t, ink: n, isDotted: r } of u) {
		e.strokeStyle = e.fillStyle = n, e.lineWidth = 1.8, e.beginPath();
		let a = !1;
		for (let { at: n, value: o } of t) r && e.fillRect(i(n) - 1, f(o) - 1, 2, 2), Number.isNaN(o) ? a = !1 : a ? e.lineTo(i(n), f(o)) : e.moveTo(i(n), f(o)), a = !Number.isNaN(o);
		e.stroke();
	}
}, i = ({ context: e, height: n, colour: r }, i, a) => {
	let o = t(a / 6);
	e.textAlign = "center", e.fillStyle = r("--dim");
	for (let t = 0; t <= a; t += o) e.fillText(`${t} s`, i(t), n - 5);
}, a = 9.95, o = (e, t) => {
	let n = t >= 99.95 ? 0 : t >= 9.995 ? 1 : 2;
	return t.toLocaleString(e, {
		minimumFractionDigits: n,
		maximumFractionDigits: n
	});
}, s = (e, t) => t.toLocaleString(e, { maximumFractionDigits: 0 }), c = (e, t) => {
	if (t >= a) return `${o(e, t)} s`;
	let n = t * 1e3;
	return `${n >= 10 || n === 0 ? s(e, n) : n.toLocaleString(e, { maximumFractionDigits: 1 })} ms`;
}, l = (e, t) => `${t.toLocaleString(e, {
	minimumFractionDigits: 1,
	maximumFractionDigits: 1
})} s`, u = (e, t) => `+${c(e, Math.max(0, t))}`, d = (e, t) => {
	let [n, r] = t >= 9995e5 ? [1e9, "Gbit/s"] : t >= 999500 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
	return `${o(e, t / n)} ${r}`;
}, f = (e, t) => {
	let [n, r] = t >= 9995e5 ? [1e9, "GB"] : [1e6, "MB"], i = t / n;
	return `${i.toLocaleString(e, { maximumFractionDigits: +(i < 10) })} ${r}`;
}, p = (e, t) => t.toLocaleString(e, { maximumFractionDigits: 2 }), m = (e, t) => t === 0 ? "0" : t >= 1 ? `${p(e, t)} s` : `${p(e, t * 1e3)} ms`, ee = (e, t) => {
	if (t === 0) return "0";
	let [n, r] = t >= 1e9 ? [1e9, "Gbit/s"] : t >= 1e6 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
	return `${p(e, t / n)} ${r}`;
}, h = {
	en: "English",
	de: "Deutsch",
	fr: "Français",
	es: "Español"
}, g = {
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
	paused: [
		"Paused while this page is in the background",
		"Angehalten, solange diese Seite im Hintergrund ist",
		"Suspendu tant que cette page est en arrière-plan",
		"En pausa mientras esta página está en segundo plano"
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
	server: [
		"The server, not your line, was the limit.",
		"Der Server, nicht Ihre Leitung, war die Grenze.",
		"Le serveur, et non votre ligne, était la limite.",
		"El límite fue el servidor, no su línea."
	],
	"server-remedy": [
		"Test with another server, or when this one is less busy.",
		"Testen Sie mit einem anderen Server, oder wenn dieser weniger zu tun hat.",
		"Testez avec un autre serveur, ou quand celui-ci est moins occupé.",
		"Pruebe con otro servidor, o cuando este esté menos ocupado."
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
	"slow-up": [
		"Uploads to this server take about {} to settle at that rate.",
		"Uploads zu diesem Server brauchen etwa {}, bis sie diese Rate erreichen.",
		"Les envois vers ce serveur mettent environ {} à se stabiliser à ce débit.",
		"Las subidas a este servidor tardan unos {} en estabilizarse a esa velocidad."
	],
	"slow-down": [
		"Downloads from this server take about {} to settle at that rate.",
		"Downloads von diesem Server brauchen etwa {}, bis sie diese Rate erreichen.",
		"Les téléchargements depuis ce serveur mettent environ {} à se stabiliser à ce débit.",
		"Las descargas de este servidor tardan unos {} en estabilizarse a esa velocidad."
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
		"At several Gbit/s, whether the browser was the limit of the upload. The command line sees all of this: fathom test",
		"Bei mehreren Gbit/s, ob der Browser den Upload begrenzt hat. Die Kommandozeile sieht all das: fathom test",
		"À plusieurs Gbit/s, si le navigateur a limité l’envoi. La ligne de commande voit tout cela : fathom test",
		"A varios Gbit/s, si el navegador limitó la subida. La línea de comandos ve todo esto: fathom test"
	],
	"site-trace": [
		"Analyze a capture (in English)",
		"Einen Mitschnitt analysieren (auf Englisch)",
		"Examiner une capture (en anglais)",
		"Analizar una captura (en inglés)"
	],
	"site-sim": [
		"Simulate a line (in English)",
		"Eine Leitung simulieren (auf Englisch)",
		"Simuler une ligne (en anglais)",
		"Simular una línea (en inglés)"
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
		"The test paused for {} while the page was in the background.",
		"Der Test war für {} angehalten, weil die Seite im Hintergrund war.",
		"Le test a été suspendu pendant {}, car la page était en arrière-plan.",
		"La prueba se detuvo durante {} porque la página estaba en segundo plano."
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
}, te = [
	"en",
	"de",
	"fr",
	"es"
], ne = (e) => e.map((e) => e.slice(0, 2).toLowerCase()).find((e) => e in h) ?? "en", _ = (e, t, ...n) => {
	let r = [...n];
	return g[t][te.indexOf(e)].replaceAll("{}", () => r.shift() ?? "");
}, re = (e) => e in g;
Object.keys(g);
// src/speed/chart.ts
var v = 30, y = 22, ie = 30, ae = .02, oe = 1e6, se = {
	idle: "--idle",
	down: "--down",
	up: "--up",
	both: "--both",
	drain: "--drain"
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
		let e = n(this.canvas);
		if (!e) return;
		let { context: t, width: a, height: o, colour: s } = e, c = Math.max(ie, this.elapsed), l = (e) => 74 + (a - 74 - 14) * e / c, u = (o - 60 - y) / 2;
		this.drawPhases(t, l, o, s);
		let d = {
			name: _(this.language, "latency"),
			top: v,
			height: u,
			least: ae,
			format: (e) => m(this.language, e)
		}, f = {
			name: _(this.language, "throughput"),
			top: 60 + u,
			height: u,
			least: oe,
			format: (e) => ee(this.language, e)
		};
		r(e, l, d, [{
			points: this.latency,
			ink: s("--latency"),
			isDotted: !0
		}]), r(e, l, f, [{
			points: this.down,
			ink: s("--down")
		}, {
			points: this.up,
			ink: s("--up")
		}]), i(e, l, c);
	}
	drawPhases(e, t, n, r) {
		this.spans.forEach(({ stage: i, from: a }, o) => {
			let s = se[i];
			if (!s) return;
			let [c, l] = [t(a), t(this.spans[o + 1]?.from ?? this.elapsed)];
			e.fillStyle = r(s), e.globalAlpha = .1, e.fillRect(c, 18, l - c, n - v - y + 12), e.globalAlpha = 1, e.textAlign = "left";
			let u = _(this.language, i);
			e.measureText(u).width < l - c - 4 && e.fillText(u, c + 3, 15);
		});
	}
}, le = 48, ue = 1, b = [
	"between",
	"idle",
	"down",
	"up",
	"both",
	"drain",
	"over",
	"paused"
], de = (e) => {
	if (e.byteLength !== 32) return;
	let t = new DataView(e), n = b[t.getUint8(1)];
	if (t.getUint8(0) !== ue || n === void 0) return;
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
}, fe = (e) => {
	let t = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(le));
	return t.setUint8(0, ue), t.setUint8(1, Number(e.isHidden)), [
		e.sequence,
		e.received,
		e.lateUs
	].forEach((e, n) => t.setUint32(4 + 4 * n, e)), [
		e.receivedUs,
		e.sentUs,
		e.downBytes,
		e.countedUs
	].forEach((e, n) => t.setBigUint64(16 + 8 * n, BigInt(Math.max(0, Math.round(e))))), t.buffer;
}, x = () => (performance.timeOrigin + performance.now()) * 1e3, S = 10, pe = 4294967295, me = class {
	channel;
	pass;
	received = 0;
	count = {
		bytes: 0,
		atUs: 0
	};
	late = 0;
	isHidden = !1;
	waiting = [];
	timer;
	constructor(e, t) {
		this.channel = e, this.pass = t, e.binaryType = "arraybuffer", e.onmessage = ({ data: e }) => this.take(e);
		let n = x() + S * 1e3;
		this.timer = setInterval(() => {
			let e = x();
			this.late = Math.max(this.late, e - n), n = Math.max(n, e) + S * 1e3, this.answer();
		}, S);
	}
	setCount(e) {
		this.count = e;
	}
	setHidden(e) {
		this.isHidden = e;
	}
	close() {
		clearInterval(this.timer), this.channel.onmessage = null;
	}
	take(e) {
		let t = x(), n = e instanceof ArrayBuffer ? de(e) : void 0;
		n && (this.received += 1, this.waiting.push({
			sequence: n.sequence,
			received: this.received,
			receivedUs: t
		}), this.answer(), this.pass(n));
	}
	answer() {
		let e = this.channel.bufferedAmount === 0 ? this.waiting.shift() : void 0;
		e && (this.channel.send(fe({
			...e,
			lateUs: Math.min(pe, Math.max(0, Math.round(this.late))),
			sentUs: x(),
			downBytes: this.count.bytes,
			countedUs: this.count.atUs,
			isHidden: this.isHidden
		})), this.late = 0);
	}
}, he = 6e3, ge = 1e3, C = class extends Error {}, _e = async (e, t) => {
	let { loads: n, ...r } = (typeof RTCPeerConnection == "function" ? await be(e, t) : void 0) ?? await we(e, t), i = new Worker("/page/load.js", { type: "module" });
	return i.postMessage({
		url: `/page/load/${r.id}`,
		probes: n
	}, [n]), {
		...r,
		close: () => {
			i.terminate(), r.close();
		}
	};
}, ve = async (e, t) => {
	let n = await fetch(`/page/test?bytes=${e}`, {
		method: "POST",
		body: t
	}), r = await n.text();
	if (!n.ok) throw new C(r.trim());
	let i = r.indexOf("\n");
	return {
		id: r.slice(0, i),
		answer: r.slice(i + 1)
	};
}, ye = (e) => new Promise((t) => {
	setTimeout(t, ge), e.onicegatheringstatechange = () => e.iceGatheringState === "complete" && t();
}), be = async (e, t) => {
	let { port1: n, port2: r } = new MessageChannel(), i = new RTCPeerConnection(), a = i.createDataChannel("probes", {
		ordered: !1,
		maxRetransmits: 0
	}), o = Se({
		channel: a,
		loads: n
	}, [a], t) ?? Ce(a, n, t), s = () => {
		o.close(), i.close();
	};
	await i.setLocalDescription(), await ye(i);
	let { id: c, answer: l } = await ve(e, i.localDescription?.sdp ?? "");
	if (!l) s();
	else {
		if (await i.setRemoteDescription({
			type: "answer",
			sdp: l
		}), await xe(i)) return {
			id: c,
			transport: "webrtc",
			loads: r,
			setHidden: o.setHidden,
			close: s
		};
		s();
	}
}, xe = (e) => new Promise((t) => {
	setTimeout(() => t(!1), he), e.onconnectionstatechange = () => {
		e.connectionState === "connected" && t(!0), e.connectionState === "failed" && t(!1);
	};
}), Se = (e, t, n) => {
	let r = new Worker("/page/probe.js", { type: "module" });
	try {
		r.postMessage(e, [...t, e.loads]);
	} catch {
		r.terminate();
		return;
	}
	return {
		isOpen: new Promise((e) => {
			r.onmessage = ({ data: t }) => {
				t === "open" || t === "failed" ? e(t === "open") : t === "closed" ? n.closed() : n.probe(t);
			};
		}),
		setHidden: (e) => r.postMessage(e),
		close: () => r.terminate()
	};
}, Ce = (e, t, n) => {
	let r = new me(e, (e) => {
		t.postMessage(e.stage), n.probe(e);
	});
	return t.onmessage = ({ data: e }) => r.setCount(e), e.onclose = () => n.closed(), {
		setHidden: (e) => r.setHidden(e),
		close: () => {
			e.onclose = null, r.close();
		}
	};
}, we = async (e, t) => {
	let { port1: n, port2: r } = new MessageChannel(), { id: i } = await ve(e, ""), a = Se({
		url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/page/socket/${i}`,
		loads: n
	}, [], t);
	if (!a || !await a.isOpen) throw new C("");
	return {
		id: i,
		transport: "websocket",
		loads: r,
		setHidden: a.setHidden,
		close: a.close
	};
}, w = "fathom-results", Te = 20, Ee = (e) => {
	let { id: t, at: n, level: r } = e ?? {};
	return typeof t == "string" && typeof n == "number" && typeof r == "string";
}, De = () => {
	try {
		let e = JSON.parse(localStorage.getItem(w) ?? "[]");
		return Array.isArray(e) ? e.filter(Ee).slice(0, Te) : [];
	} catch {
		return [];
	}
}, Oe = (e) => {
	try {
		localStorage.setItem(w, JSON.stringify([e, ...De()].slice(0, Te)));
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
}, ke = [
	[4.02, "calls-good"],
	[3.6, "calls-fair"],
	[3.1, "calls-poor"]
], Ae = [
	[2e7, "video-good"],
	[5e6, "video-hd"],
	[1e6, "video-low"]
], je = [
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
}, Me = (e) => /late|cpu|probes_left_out|receiver_limited/.test(e.verdict.reason?.kind ?? ""), Ne = (e) => Me(e) ? "late" : e.verdict.reason?.kind === "sender_idle" ? "server" : "unclear", Pe = (e, t) => {
	let n = u(e, O(t) ?? 0);
	switch (D(t)) {
		case "good": return _(e, "responsive", n);
		case "fair": return e === "en" ? t.verdict.headline : _(e, "fair-line", n);
		case "at_least_bad": return _(e, "growing", n);
		case "no_result": return _(e, Ne(t));
		case "bad": {
			let r = t.verdict.phase;
			return _(e, r === "up" ? "bad-up" : r === "down" ? "bad-down" : "bad-both", n);
		}
	}
}, Fe = (e) => ke.find(([t]) => e >= t)?.[1] ?? "calls-broken", Ie = (e) => Ae.find(([t]) => e >= t)?.[1] ?? "video-none", Le = (e, { summary: t, verdict: n }) => {
	let r = (e) => t.phases.find(({ phase: t }) => t === e), [i, a] = [r("idle"), r(n.phase)];
	if (!i || !a) return [];
	let o = (e, t) => t(e) ?? "–", s = ({ call_mos: t }) => t === void 0 ? void 0 : _(e, Fe(t)), c = ({ games: t }) => t !== void 0 && je.includes(t) ? _(e, `games-${t}`) : void 0, u = ({ page_load_s: t }) => t === void 0 ? void 0 : _(e, "pages-time", l(e, t)), d = (t) => t === void 0 ? "–" : _(e, Ie(t)), [f, p] = [t.goodput_down_bits_per_second, r("both")?.goodput_down_bits_per_second], m = (t, n) => [
		_(e, t),
		o(i, n),
		o(a, n)
	];
	return [
		m("calls", s),
		m("games", c),
		m("pages", u),
		[
			_(e, "video"),
			d(f),
			d(p)
		]
	];
}, Re = (e, t, n) => `${d(e, t)} – ${d(e, n)}`, ze = (e, t) => {
	let n = t.advice.flatMap((t) => {
		let { action: n, direction: r, min_bits_per_second: i, max_bits_per_second: a } = t;
		if (n === "shape" && r && i && a) {
			let n = _(e, `shape-${r}`, Re(e, i, a)), { adapted_after_s: o } = t;
			return [o === void 0 ? n : `${n} ${_(e, `slow-${r}`, c(e, o))}`];
		}
		return n === "shape" ? [_(e, "shape")] : n === "do_not_shape" ? [_(e, "no-shape")] : n === "load_longer" ? [_(e, "longer")] : n === "use_quiet_machine" ? [_(e, "late-remedy")] : [];
	}), r = D(t);
	return r === "no_result" && n.length === 0 && n.push(_(e, `${Ne(t)}-remedy`)), (r === "bad" || r === "at_least_bad") && n.push(_(e, "cable")), [...new Set(n.length > 0 ? n : [_(e, "nothing")])];
}, Be = (e, { summary: t }) => {
	let n = _(e, "by-upload"), r = _(e, "by-download"), i = (e, t) => e.flatMap(([e, n]) => e === void 0 ? [] : [`${t(e)} ${n}`]).join(", ") || "–", a = t.idle_p50_s === void 0 ? "" : ` (${_(e, "when-idle")} ${c(e, t.idle_p50_s)})`, o = i([[t.lag_up_s, n], [t.lag_down_s, r]], (t) => u(e, t)), s = [[t.goodput_up_bits_per_second, n], [t.goodput_down_bits_per_second, r]], l = t.responsiveness_rpm;
	return {
		lag: o + a,
		throughput: i(s, (t) => d(e, t)),
		responsiveness: l === void 0 ? "–" : `${Math.round(l).toLocaleString(e)} RPM${t.grade ? `, ${t.grade}` : ""}`
	};
}, Ve = [
	5e7,
	25e7,
	1e9,
	4e9
], He = 1e9, Ue = 5e7, We = 15e3, Ge = 400, Ke = 35e3, qe = 4e3, Je = 2e3, k = [
	"idle",
	"down",
	"up",
	"both",
	"drain"
], A = (e) => document.getElementById(e), [j, Ye, Xe, M] = [
	"start",
	"run",
	"result",
	"failure"
].map((e) => A(e)), Ze = T("language") ?? "", N = Ze in h ? Ze : ne(navigator.languages), P = new ce(A("chart"), N), F, I, L, R, z = 0, B = 0, V = 0, H = (e, ...t) => _(N, e, ...t), U = navigator.connection, W = U?.saveData === !0 || U?.type === "cellular", G = W ? "fathom-budget-metered" : "fathom-budget", K = (e) => {
	for (let t of [
		j,
		Ye,
		Xe,
		M
	]) t && (t.hidden = t !== e);
	A("picture").hidden = e === j || e === M && !R;
}, Qe = () => {
	document.documentElement.lang = N;
	for (let e of document.querySelectorAll("[data-word]")) {
		let t = e.dataset.word ?? "";
		re(t) && (e.textContent = H(t));
	}
	document.title = `Fathom: ${H("title")}`, A("chart").setAttribute("aria-label", H("chart")), P.language = N, P.draw(), $e(), J(), ut(), L && at(L.id, L.result, L.transport), dt();
}, q = () => Number(A("budget").value), $e = () => {
	let t = A("budget"), n = Number(t.value || T(G) || (W ? Ue : He)), r = Ve.map((t) => {
		let r = e("option", { value: String(t) }, f(N, t));
		return r.selected = t === n, r;
	});
	t.replaceChildren(...r), A("cost").textContent = H("cost", f(N, q()));
}, J = () => {
	let t = R ? k.indexOf(R) : -1, n = R && R !== "paused" ? b.indexOf(R) : 0, r = k.map((r, i) => {
		let a = e("li", {}, H(r));
		return i === t && a.setAttribute("aria-current", "step"), a.classList.toggle("done", b.indexOf(r) < n || Y > i), a;
	});
	A("phases").replaceChildren(...r);
}, Y = 0, et = (e) => {
	if (R === e) return;
	R = e;
	let t = k.indexOf(e);
	t >= 0 ? Y = t : e === "over" ? Y = k.length : e === "between" && (Y = Math.max(Y, 1));
	let n = H(e);
	A("stage").textContent = n, A("said").textContent = n, document.title = `Fathom: ${e === "paused" ? n : H("title")}`, J();
}, tt = (e) => {
	z = Date.now(), et(e.stage), P.add(e), e.delayUs > 0 && (A("live-latency").textContent = c(N, e.delayUs / 1e6));
	let t = (t) => t.includes(e.stage);
	t(["down", "both"]) && (A("live-down").textContent = d(N, e.downKbit * 1e3)), t(["up", "both"]) && (A("live-up").textContent = d(N, e.upKbit * 1e3)), A("moved").textContent = H("moved", f(N, e.movedKilobytes * 1e3)), e.stage === "over" && X(!1);
}, X = (e) => {
	let t = I, n = F?.id;
	I = void 0, t && n && t(n, e);
}, nt = async () => {
	[R, Y, L, B, V] = [
		void 0,
		0,
		void 0,
		0,
		document.hidden ? Date.now() : 0
	], E(G, String(q())), P.clear();
	for (let e of [
		"live-latency",
		"live-down",
		"live-up"
	]) A(e).textContent = "–";
	A("moved").textContent = "", A("quality").textContent = "", A("stage").textContent = H("connecting"), J(), K(Ye), A("stage").focus();
	let e, t = new Promise((t) => {
		I = (n, r) => t(e = [n, r]);
	}), n = setInterval(() => void rt().then((e) => e && X(!0)), Je);
	try {
		z = Date.now(), F = await _e(q(), {
			probe: tt,
			closed: () => X(!0)
		}), F.setHidden(document.hidden), R === "over" && !e && X(!1);
		let [n, r] = await t, { transport: i } = F;
		F.close();
		let a = await it(n);
		if (!a || r && a.summary.phases.length === 0) return Z("lost", "offline-remedy");
		document.hidden && V && (B += Date.now() - V), at(n, a, i), st(n, a), await ft(n), A("headline").focus();
	} catch (e) {
		if (F?.close(), !(e instanceof C)) return Z("offline", "offline-remedy");
		if (!e.message) return Z("blocked", "blocked-remedy");
		Z("refused", "refused-remedy", e.message.replace(/\.$/, ""));
	} finally {
		clearInterval(n), F = void 0;
	}
}, rt = async () => {
	let e = Date.now() - z;
	if (!F || e < qe) return !1;
	let t = await fetch(`/page/result/${F.id}`).then(({ status: e }) => e, () => 0);
	return e > Ke || (t === 0 || t === 404) && Date.now() - z >= e;
}, it = async (e) => {
	let t = Date.now() + We;
	for (; Date.now() < t;) {
		let t = await fetch(`/page/result/${e}`).catch(() => void 0);
		if (t?.status === 200) return await t.json();
		if (!t || t.status === 404) return;
		await new Promise((e) => setTimeout(e, Ge));
	}
}, Z = (e, t, ...n) => {
	A("problem").textContent = H(e, ...n), A("remedy").textContent = H(t), K(M);
}, at = (t, n, r) => {
	L = {
		id: t,
		result: n,
		transport: r
	};
	let i = D(n);
	A("card").dataset.level = i, A("level").textContent = H(i), A("headline").textContent = Pe(N, n);
	let a = A("consequence");
	a.textContent = N === "en" ? n.verdict.consequence ?? "" : "", i === "no_result" && N === "en" && (a.textContent = n.verdict.headline);
	let o = Be(N, n);
	A("lag").textContent = o.lag, A("throughput").textContent = o.throughput, A("responsiveness").textContent = o.responsiveness;
	let s = Le(N, n).map(([t, n, r]) => e("tr", {}, e("th", { scope: "row" }, t), e("td", {}, n), e("td", {}, r))), c = e("tr", {}, e("td"), e("th", { scope: "col" }, H("when-idle")), e("th", { scope: "col" }, H("when-busy")));
	A("uses").replaceChildren(...s.length > 0 ? [c, ...s] : []), A("advice").replaceChildren(...ze(N, n).map((t) => e("li", {}, t))), A("report").href = `/result/${t}`;
	let l = A("json");
	l.href = `/result/${t}.json`, l.download = `fathom-${n.started.slice(0, 10) || t}.json`, ot(n, r), P.draw(), K(Xe);
}, ot = (e, t) => {
	let [n, r] = [e.late_p50_s ?? 0, e.late_p99_s ?? 0].map((e) => c(N, e)), i = [H("quality", t === "webrtc" ? "WebRTC (UDP)" : "WebSocket (TCP)", n ?? "", r ?? "")];
	t !== "webrtc" && i.push(H("fallback")), B > 1e3 && i.push(H("hidden", l(N, B / 1e3))), A("quality").textContent = i.join(" ");
}, st = (e, t) => {
	Oe({
		id: e,
		at: Date.now(),
		level: D(t),
		lagS: O(t) ?? null,
		upBits: t.summary.goodput_up_bits_per_second ?? null,
		downBits: t.summary.goodput_down_bits_per_second ?? null
	}), ut();
}, ct = (e) => new Date(e).toLocaleString(N, {
	dateStyle: "short",
	timeStyle: "short"
}), lt = (...t) => e("tr", {}, ...t.map((t) => e("th", { scope: "col" }, H(t)))), Q = (e, t) => e == null ? "–" : t(e), ut = () => {
	let t = De();
	A("past").hidden = t.length === 0;
	let n = t.map(({ at: t, level: n, lagS: r, upBits: i, downBits: a }) => e("tr", { "data-level": n }, e("td", {}, ct(t)), e("td", { class: "level" }, re(n) ? H(n) : ""), e("td", {}, Q(r, (e) => u(N, e))), e("td", {}, Q(a, (e) => d(N, e))), e("td", {}, Q(i, (e) => d(N, e)))));
	A("history").replaceChildren(lt("when", "lag", "lag", "download", "upload"), ...n), A("history").querySelector("th:nth-child(2)")?.replaceChildren();
}, dt = async () => {
	let t = await fetch("/page/devices").catch(() => void 0), { keeps: n, has_site: r, devices: i } = t?.ok ? await t.json() : {
		keeps: !1,
		has_site: !1,
		devices: []
	};
	A("site").hidden = !r, A("consent-text").textContent = H(n ? "consent-keep" : "consent"), A("house").hidden = i.length === 0;
	let a = i.map(({ name: t, result: n }) => e("tr", { "data-level": D(n) }, e("td", {}, t), e("td", { class: "level" }, H(D(n))), e("td", {}, Q(O(n), (e) => u(N, e))), e("td", {}, Q(n.summary.goodput_down_bits_per_second, (e) => d(N, e))), e("td", {}, Q(n.summary.goodput_up_bits_per_second, (e) => d(N, e)))));
	A("devices").replaceChildren(lt("who", "lag", "lag", "download", "upload"), ...a), A("devices").querySelector("th:nth-child(2)")?.replaceChildren();
}, ft = async (e) => {
	if (A("consent").checked) {
		let t = A("device").value.trim();
		E("fathom-device", t), await fetch(`/page/publish/${e}`, {
			method: "POST",
			body: t
		}).catch(() => void 0);
	}
	await dt();
}, pt = async () => {
	let e = A("report").href;
	await navigator.clipboard?.writeText(e).then(() => A("shared").textContent = H("copied"), () => A("shared").textContent = e) ?? (A("shared").textContent = e);
}, $ = A("language");
for (let [t, n] of Object.entries(h)) {
	let r = e("option", {
		value: t,
		lang: t
	}, n);
	r.selected = t === N, $.append(r);
}
$.onchange = () => {
	N = $.value, E("language", N), Qe();
}, A("budget").onchange = () => {
	E(G, String(q())), $e();
};
var mt = A("consent");
mt.onchange = () => A("naming").hidden = !mt.checked, A("device").value = T("fathom-device") ?? "";
for (let e of [
	"go",
	"again",
	"retry"
]) A(e).onclick = () => void nt();
A("stop").onclick = () => X(!0), A("share").onclick = () => void pt(), document.addEventListener("visibilitychange", () => {
	F?.setHidden(document.hidden), document.hidden ? V = Date.now() : V &&= (B += Date.now() - V, 0);
}), Qe(), K(j);
