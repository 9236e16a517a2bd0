// All words of the page: each in English, German, French and Spanish. {} is replaced by values.

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español" } as const;
export type Language = keyof typeof LANGUAGES;

const WORDS = {
  language: ["Language", "Sprache", "Langue", "Idioma"],
  title: ["What happens when your line is busy?", "Was passiert, wenn Ihre Leitung ausgelastet ist?", "Que se passe-t-il quand votre ligne est chargée ?", "¿Qué pasa cuando su línea está ocupada?"],
  intro: [
    "This test loads your line and measures how long everything else waits. That wait is what breaks up calls and makes games lag.",
    "Dieser Test lastet Ihre Leitung aus und misst, wie lange alles andere wartet. Dieses Warten lässt Anrufe abreißen und Spiele ruckeln.",
    "Ce test charge votre ligne et mesure l’attente de tout le reste. C’est cette attente qui hache les appels et ralentit les jeux.",
    "Esta prueba carga su línea y mide cuánto espera todo lo demás. Esa espera corta las llamadas y retrasa los juegos.",
  ],
  start: ["Start", "Starten", "Démarrer", "Empezar"],
  again: ["Test again", "Erneut testen", "Refaire le test", "Repetir la prueba"],
  stop: ["Stop", "Abbrechen", "Arrêter", "Detener"],
  cost: ["Takes about a minute and moves at most {}.", "Dauert etwa eine Minute und überträgt höchstens {}.", "Dure environ une minute et transfère au plus {}.", "Dura cerca de un minuto y transfiere {} como máximo."],
  budget: ["Data, at most", "Datenmenge höchstens", "Données, au plus", "Datos, como máximo"],
  consent: ["Show my result to everyone who opens this page today", "Mein Ergebnis heute allen zeigen, die diese Seite öffnen", "Montrer mon résultat aujourd’hui à tous les visiteurs de cette page", "Mostrar hoy mi resultado a quien abra esta página"],
  "consent-keep": [
    "Keep my result on this server, and show it today to everyone who opens this page",
    "Mein Ergebnis auf diesem Server behalten und heute allen zeigen, die diese Seite öffnen",
    "Garder mon résultat sur ce serveur et le montrer aujourd’hui à tous les visiteurs de cette page",
    "Guardar mi resultado en este servidor y mostrarlo hoy a quien abra esta página",
  ],
  device: ["Name of this device", "Name dieses Geräts", "Nom de cet appareil", "Nombre de este dispositivo"],
  latency: ["Latency", "Latenz", "Latence", "Latencia"],
  download: ["Download", "Download", "Téléchargement", "Descarga"],
  upload: ["Upload", "Upload", "Envoi", "Subida"],
  "by-download": ["download", "Download", "téléchargement", "descarga"],
  "by-upload": ["upload", "Upload", "envoi", "subida"],
  throughput: ["Throughput", "Durchsatz", "Débit", "Velocidad"],
  responsiveness: ["Responsiveness", "Reaktionsrate", "Réactivité", "Capacidad de respuesta"],
  lag: ["Lag when busy", "Verzögerung unter Last", "Retard sous charge", "Retardo con carga"],
  moved: ["{} so far", "bisher {}", "{} jusqu’ici", "{} hasta ahora"],
  connecting: ["Connecting", "Verbinden", "Connexion", "Conectando"],
  idle: ["Idle", "Ruhe", "Repos", "En reposo"],
  down: ["Download", "Download", "Téléchargement", "Descarga"],
  up: ["Upload", "Upload", "Envoi", "Subida"],
  both: ["Both", "Beides", "Les deux", "Ambas"],
  drain: ["Afterwards", "Danach", "Après", "Después"],
  between: ["Waiting for the queue to empty", "Warten, bis sich die Warteschlange leert", "Attente du vidage de la file", "Esperando a que se vacíe la cola"],
  paused: [
    "Paused while this page is in the background",
    "Angehalten, solange diese Seite im Hintergrund ist",
    "Suspendu tant que cette page est en arrière-plan",
    "En pausa mientras esta página está en segundo plano",
  ],
  over: ["Done", "Fertig", "Terminé", "Hecho"],
  good: ["GOOD", "GUT", "BON", "BIEN"],
  fair: ["FAIR", "MITTEL", "MOYEN", "REGULAR"],
  bad: ["BAD", "SCHLECHT", "MAUVAIS", "MAL"],
  at_least_bad: ["AT LEAST BAD", "MINDESTENS SCHLECHT", "AU MOINS MAUVAIS", "MAL COMO MÍNIMO"],
  no_result: ["NO RESULT", "KEIN ERGEBNIS", "PAS DE RÉSULTAT", "SIN RESULTADO"],
  "bad-up": ["Your upload makes everything wait: {} when busy.", "Ihr Upload lässt alles warten: {} unter Last.", "Vos envois font tout attendre : {} sous charge.", "Su subida hace esperar a todo: {} con carga."],
  "bad-down": ["Your download makes everything wait: {} when busy.", "Ihr Download lässt alles warten: {} unter Last.", "Vos téléchargements font tout attendre : {} sous charge.", "Su descarga hace esperar a todo: {} con carga."],
  "bad-both": ["Everything waits when you upload and download at once: {} when busy.", "Alles wartet, wenn Sie gleichzeitig hoch- und herunterladen: {} unter Last.", "Tout attend quand vous envoyez et téléchargez à la fois : {} sous charge.", "Todo espera si sube y descarga a la vez: {} con carga."],
  growing: ["Latency was still growing at the end of the load: at least {} when busy.", "Die Latenz wuchs am Ende der Last noch: mindestens {} unter Last.", "La latence augmentait encore à la fin : au moins {} sous charge.", "La latencia aún crecía al final de la carga: al menos {} con carga."],
  responsive: ["This line stays responsive: {} when busy.", "Diese Leitung reagiert auch unter Last schnell: {}.", "Cette ligne reste réactive : {} sous charge.", "Esta línea responde bien: {} con carga."],
  "fair-line": ["This line has a problem: {} when busy. The report says which.", "Diese Leitung hat ein Problem: {} unter Last. Der Bericht sagt, welches.", "Cette ligne a un problème : {} sous charge. Le rapport dit lequel.", "Esta línea tiene un problema: {} con carga. El informe dice cuál."],
  late: ["Your browser was too busy to measure.", "Ihr Browser war zum Messen zu beschäftigt.", "Votre navigateur était trop occupé pour mesurer.", "Su navegador estaba demasiado ocupado para medir."],
  "late-remedy": ["Close other tabs and programs, or use another device.", "Schließen Sie andere Tabs und Programme, oder nehmen Sie ein anderes Gerät.", "Fermez les autres onglets et programmes, ou prenez un autre appareil.", "Cierre otras pestañas y programas, o use otro dispositivo."],
  unclear: ["The measurement shows no clear result.", "Die Messung zeigt kein klares Ergebnis.", "La mesure ne donne pas de résultat clair.", "La medición no da un resultado claro."],
  "unclear-remedy": ["Make sure that nobody else uses the line, and test again. The report has the reason.", "Achten Sie darauf, dass niemand sonst die Leitung nutzt, und testen Sie erneut. Der Bericht nennt den Grund.", "Vérifiez que vous êtes seul sur la ligne et recommencez. Le rapport donne la raison.", "Asegúrese de que nadie más use la línea y repita la prueba. El informe da el motivo."],
  server: ["The server, not your line, was the limit.", "Der Server, nicht Ihre Leitung, war die Grenze.", "Le serveur, et non votre ligne, était la limite.", "El límite fue el servidor, no su línea."],
  "server-remedy": ["Test with another server, or when this one is less busy.", "Testen Sie mit einem anderen Server, oder wenn dieser weniger zu tun hat.", "Testez avec un autre serveur, ou quand celui-ci est moins occupé.", "Pruebe con otro servidor, o cuando este esté menos ocupado."],
  calls: ["Calls", "Anrufe", "Appels", "Llamadas"],
  games: ["Games", "Spiele", "Jeux", "Juegos"],
  pages: ["Web pages", "Webseiten", "Pages web", "Páginas web"],
  video: ["Video", "Video", "Vidéo", "Vídeo"],
  "when-idle": ["idle", "in Ruhe", "au repos", "en reposo"],
  "when-busy": ["busy", "ausgelastet", "en charge", "con carga"],
  "calls-good": ["clear", "klar", "nets", "claras"],
  "calls-fair": ["lose quality", "weniger gut", "de qualité réduite", "pierden calidad"],
  "calls-poor": ["poor", "schlecht", "mauvais", "malas"],
  "calls-broken": ["break up", "reißen ab", "hachés", "se cortan"],
  "games-all": ["all work", "alle gehen", "tous jouables", "todos van bien"],
  "games-third_person": ["shooters lag", "Shooter ruckeln", "les jeux de tir ralentissent", "los de disparos se retrasan"],
  "games-from_above": ["most lag", "die meisten ruckeln", "la plupart ralentissent", "la mayoría se retrasa"],
  "games-by_turns": ["all lag", "alle ruckeln", "tous ralentissent", "todos se retrasan"],
  "pages-time": ["{} each", "je {}", "{} chacune", "{} cada una"],
  "video-good": ["4K", "4K", "4K", "4K"],
  "video-hd": ["HD", "HD", "HD", "HD"],
  "video-low": ["low quality", "niedrige Qualität", "basse qualité", "baja calidad"],
  "video-none": ["stalls", "stockt", "se bloque", "se detiene"],
  try: ["What to try", "Was Sie tun können", "Que faire", "Qué hacer"],
  "shape-up": ["On the router, turn on SQM (fq_codel or CAKE) and limit the upload to {}.", "Schalten Sie im Router SQM (fq_codel oder CAKE) ein, und begrenzen Sie den Upload auf {}.", "Sur le routeur, activez SQM (fq_codel ou CAKE) et limitez l’envoi à {}.", "En el router, active SQM (fq_codel o CAKE) y limite la subida a {}."],
  "shape-down": ["On the router, turn on SQM (fq_codel or CAKE) and limit the download to {}.", "Schalten Sie im Router SQM (fq_codel oder CAKE) ein, und begrenzen Sie den Download auf {}.", "Sur le routeur, activez SQM (fq_codel ou CAKE) et limitez le téléchargement à {}.", "En el router, active SQM (fq_codel o CAKE) y limite la descarga a {}."],
  "slow-up": ["Uploads to this server take about {} to settle at that rate.", "Uploads zu diesem Server brauchen etwa {}, bis sie diese Rate erreichen.", "Les envois vers ce serveur mettent environ {} à se stabiliser à ce débit.", "Las subidas a este servidor tardan unos {} en estabilizarse a esa velocidad."],
  "slow-down": ["Downloads from this server take about {} to settle at that rate.", "Downloads von diesem Server brauchen etwa {}, bis sie diese Rate erreichen.", "Les téléchargements depuis ce serveur mettent environ {} à se stabiliser à ce débit.", "Las descargas de este servidor tardan unos {} en estabilizarse a esa velocidad."],
  shape: ["On the router, turn on SQM (fq_codel or CAKE).", "Schalten Sie im Router SQM (fq_codel oder CAKE) ein.", "Sur le routeur, activez SQM (fq_codel ou CAKE).", "En el router, active SQM (fq_codel o CAKE)."],
  "no-shape": ["A fixed limit in the router would not help on this line: the report says why.", "Eine feste Grenze im Router hilft bei dieser Leitung nicht: Der Bericht sagt, warum.", "Une limite fixe dans le routeur n’aiderait pas ici : le rapport dit pourquoi.", "Un límite fijo en el router no ayudaría en esta línea: el informe dice por qué."],
  cable: ["Test once by cable: if the lag is gone, it is your Wi-Fi.", "Testen Sie einmal per Kabel: Ist die Verzögerung weg, liegt es am WLAN.", "Testez une fois par câble : si le retard disparaît, c’est votre Wi-Fi.", "Pruebe una vez por cable: si el retardo desaparece, es su Wi-Fi."],
  nothing: ["Nothing: this line is fine.", "Nichts: Diese Leitung ist in Ordnung.", "Rien : cette ligne va bien.", "Nada: esta línea está bien."],
  longer: ["Allow more data, so that the test can last longer.", "Erlauben Sie mehr Daten, damit der Test länger dauern kann.", "Autorisez plus de données pour un test plus long.", "Permita más datos para una prueba más larga."],
  report: ["Full report", "Voller Bericht", "Rapport complet", "Informe completo"],
  json: ["Data (JSON)", "Daten (JSON)", "Données (JSON)", "Datos (JSON)"],
  share: ["Copy link", "Link kopieren", "Copier le lien", "Copiar enlace"],
  copied: ["Copied", "Kopiert", "Copié", "Copiado"],
  past: ["Earlier results of this browser", "Frühere Ergebnisse dieses Browsers", "Résultats précédents de ce navigateur", "Resultados anteriores de este navegador"],
  house: ["Tested here today", "Heute hier getestet", "Testés ici aujourd’hui", "Probados hoy aquí"],
  when: ["When", "Wann", "Quand", "Cuándo"],
  who: ["Device", "Gerät", "Appareil", "Dispositivo"],
  limits: ["What a browser cannot see", "Was ein Browser nicht sieht", "Ce qu’un navigateur ne voit pas", "Lo que un navegador no ve"],
  "limit-wifi": ["Your Wi-Fi: its rate, its signal, and its queue. Compare with a cable.", "Ihr WLAN: Rate, Signal und Warteschlange. Vergleichen Sie mit einem Kabel.", "Votre Wi-Fi : débit, signal et file d’attente. Comparez avec un câble.", "Su Wi-Fi: velocidad, señal y cola. Compare con un cable."],
  "limit-hops": ["The routers on the way, and which of them has the queue.", "Die Router auf dem Weg, und welcher die Warteschlange hat.", "Les routeurs du chemin, et lequel a la file d’attente.", "Los routers del camino y cuál tiene la cola."],
  "limit-host": ["The queue of this computer, and when packets leave it.", "Die Warteschlange dieses Computers, und wann Pakete ihn verlassen.", "La file de cet ordinateur, et le départ réel des paquets.", "La cola de este equipo y cuándo salen los paquetes."],
  "limit-fast": [
    "At several Gbit/s, whether the browser was the limit of the upload. The command line sees all of this: fathom test",
    "Bei mehreren Gbit/s, ob der Browser den Upload begrenzt hat. Die Kommandozeile sieht all das: fathom test",
    "À plusieurs Gbit/s, si le navigateur a limité l’envoi. La ligne de commande voit tout cela : fathom test",
    "A varios Gbit/s, si el navegador limitó la subida. La línea de comandos ve todo esto: fathom test",
  ],
  "site-trace": ["Analyze a capture (in English)", "Einen Mitschnitt analysieren (auf Englisch)", "Examiner une capture (en anglais)", "Analizar una captura (en inglés)"],
  "site-sim": ["Simulate a line (in English)", "Eine Leitung simulieren (auf Englisch)", "Simuler une ligne (en anglais)", "Simular una línea (en inglés)"],
  privacy: ["No account, no cookies, no third parties. The server keeps a result for a day.", "Kein Konto, keine Cookies, keine Dritten. Der Server bewahrt ein Ergebnis einen Tag auf.", "Ni compte, ni cookie, ni tiers. Le serveur garde un résultat un jour.", "Sin cuenta, sin cookies, sin terceros. El servidor guarda el resultado un día."],
  quality: ["Probes by {}. This browser was late by {} (median), {} (p99).", "Proben über {}. Dieser Browser war {} (Median), {} (p99) zu spät.", "Sondes par {}. Ce navigateur avait un retard de {} (médiane), {} (p99).", "Sondas por {}. Este navegador se retrasó {} (mediana), {} (p99)."],
  fallback: ["UDP is blocked here: probes travel by TCP, so a lost packet delays those behind it.", "UDP ist hier gesperrt: Proben laufen über TCP, ein verlorenes Paket verzögert also die folgenden.", "UDP est bloqué ici : les sondes passent par TCP, un paquet perdu retarde donc les suivants.", "UDP está bloqueado aquí: las sondas van por TCP y un paquete perdido retrasa a los siguientes."],
  hidden: [
    "The test paused for {} while the page was in the background.",
    "Der Test war für {} angehalten, weil die Seite im Hintergrund war.",
    "Le test a été suspendu pendant {}, car la page était en arrière-plan.",
    "La prueba se detuvo durante {} porque la página estaba en segundo plano.",
  ],
  "offline": ["The server cannot be reached.", "Der Server ist nicht erreichbar.", "Le serveur est injoignable.", "No se puede alcanzar el servidor."],
  "offline-remedy": ["Check that this device is online and that the server runs, then test again.", "Prüfen Sie, ob dieses Gerät online ist und der Server läuft, und testen Sie erneut.", "Vérifiez que cet appareil est en ligne et que le serveur tourne, puis recommencez.", "Compruebe que este dispositivo tiene conexión y que el servidor funciona, y repita la prueba."],
  refused: ["The server refused the test: {}.", "Der Server hat den Test abgelehnt: {}.", "Le serveur a refusé le test : {}.", "El servidor rechazó la prueba: {}."],
  "refused-remedy": ["Try again in a minute.", "Versuchen Sie es in einer Minute erneut.", "Réessayez dans une minute.", "Inténtelo de nuevo en un minuto."],
  lost: ["The connection to the server broke during the test.", "Die Verbindung zum Server brach während des Tests ab.", "La connexion au serveur s’est rompue pendant le test.", "La conexión con el servidor se cortó durante la prueba."],
  blocked: ["Neither UDP nor a WebSocket reaches the server.", "Weder UDP noch ein WebSocket erreicht den Server.", "Ni UDP ni WebSocket n’atteignent le serveur.", "Ni UDP ni WebSocket llegan al servidor."],
  "blocked-remedy": ["A firewall or a proxy is in the way. Ask for UDP to this server, or use another network.", "Eine Firewall oder ein Proxy steht im Weg. Bitten Sie um UDP zu diesem Server, oder nehmen Sie ein anderes Netz.", "Un pare-feu ou un proxy bloque. Demandez l’UDP vers ce serveur, ou changez de réseau.", "Un cortafuegos o un proxy lo impide. Pida UDP hacia este servidor o use otra red."],
  chart: ["Latency and throughput over time", "Latenz und Durchsatz im Lauf der Zeit", "Latence et débit au fil du temps", "Latencia y velocidad a lo largo del tiempo"],
} as const;

export type Word = keyof typeof WORDS;

const ORDER: readonly Language[] = ["en", "de", "fr", "es"];

/** The language of the reader. */
export const preferred = (languages: readonly string[]): Language => {
  const known = languages.map((name) => name.slice(0, 2).toLowerCase());
  return known.find((name): name is Language => name in LANGUAGES) ?? "en";
};

/** A word in a language, with values in place of {}. */
export const word = (language: Language, key: Word, ...values: string[]): string => {
  const left = [...values];
  return WORDS[key][ORDER.indexOf(language)].replaceAll("{}", () => left.shift() ?? "");
};

export const isWord = (key: string): key is Word => key in WORDS;

export const KEYS = Object.keys(WORDS) as Word[];
