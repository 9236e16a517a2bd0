'use strict';
'require form';
'require fs';
'require poll';
'require ui';
'require view';

// Bufferbloat: what is shaped, a test with its verdict, and the settings of /etc/config/fathom.

const STATUS = ['fix', '--status', '--json', '--state', '/var/run/fathom'];
const RESULT = '/tmp/fathom/result';

const status = () => fs.exec('/usr/bin/fathom', STATUS).then((done) => JSON.parse(done.stdout).fix.interfaces);

const text = (rate) => (rate ? `${(rate / 1e6).toFixed(1)} Mbit/s` : '-');

function table(interfaces) {
	if (!interfaces.length)
		return E('p', _('No interface is shaped.'));
	const cell = (content) => E('td', { class: 'td' }, content);
	const row = (one) => E('tr', { class: 'tr' }, [
		cell(one.interface),
		cell(one.state),
		cell(one.shaper || '-'),
		cell(text(one.down && one.down.rate_bits_per_second)),
		cell(text(one.up && one.up.rate_bits_per_second)),
	]);
	const head = [_('Device'), _('State'), _('Shaper'), _('Download'), _('Upload')];
	return E('table', { class: 'table' }, [
		E('tr', { class: 'tr table-titles' }, head.map((name) => E('th', { class: 'th' }, name))),
		...interfaces.map(row),
	]);
}

function tester() {
	const shown = E('div');
	// The file appears when the test has ended: with its verdict, or why there is none.
	const look = () => fs.read(RESULT).then((result) => {
		poll.remove(look);
		shown.replaceChildren(E('pre', result));
	}, () => null);
	const start = ui.createHandlerFn(null, async () => {
		shown.replaceChildren(E('p', { class: 'spinning' }, _('Testing. This loads the line for half a minute.')));
		await fs.exec('/etc/init.d/fathom', ['measure']);
		poll.add(look, 2);
	});
	return E('div', { class: 'cbi-section' }, [
		E('h3', _('Test')),
		E('button', { class: 'btn cbi-button cbi-button-action', click: start }, _('Test the line')),
		shown,
	]);
}

function settings() {
	const map = new form.Map('fathom', _('Bufferbloat'), _('Latency under load, and queues that keep it short.'));
	const fix = map.section(form.TypedSection, 'fix', _('Lines'));
	fix.anonymous = true;
	fix.addremove = true;
	fix.option(form.Flag, 'enabled', _('Shape this line'));
	fix.option(form.Value, 'interface', _('Network or device'));
	fix.option(form.Value, 'download', _('Download'), _('What the line carries, less a few percent, as in 47mbit.'));
	fix.option(form.Value, 'upload', _('Upload'), _('As in 9.5mbit.'));
	fix.option(form.Value, 'overhead', _('Overhead'), _('Bytes that the link adds to each packet: 44 if unknown.')).datatype =
		'range(0,256)';
	fix.option(form.Flag, 'autorate', _('Follow the rate of the line'), _('For LTE, Starlink and cable.'));
	fix.option(form.DynamicList, 'reflector', _('Hosts that answer pings'), _('At least four.')).depends('autorate', '1');
	const watch = map.section(form.NamedSection, 'watch', 'watch', _('Watch'),
		_('Probes hosts all the time, and sends their delays and losses to Prometheus, VictoriaMetrics or an OpenTelemetry collector.'));
	watch.option(form.Flag, 'enabled', _('Watch the line'));
	watch.option(form.DynamicList, 'target', _('Hosts'), _('Probed by ICMP.')).datatype = 'host';
	const push = watch.option(form.Value, 'push', _('Receiver'));
	push.placeholder = 'http://192.168.1.2:9090/api/v1/write';
	push.validate = (section, url) => /^(http:\/\/.+)?$/.test(url) || _('A URL with http://: there is no TLS.');
	const format = watch.option(form.ListValue, 'format', _('Format'));
	format.value('remote-write', _('Prometheus'));
	format.value('remote-write-classic', _('VictoriaMetrics'));
	format.value('otlp', _('OpenTelemetry'));
	watch.option(form.Value, 'interval', _('Time between probes')).placeholder = '1s';
	watch.option(form.Value, 'push_interval', _('Time between points')).placeholder = '60s';
	watch.option(form.DynamicList, 'label', _('Labels of all series')).placeholder = 'site=home';
	watch.option(form.DynamicList, 'header', _('Headers of all requests')).placeholder = 'X-Scope-OrgID: home';
	const test = map.section(form.NamedSection, 'test', 'test', _('Server'));
	test.option(form.Value, 'server', _('Server'), _('A host that runs `fathom serve`.'));
	return map;
}

return view.extend({
	load: () => status().catch(() => []),
	render: async (interfaces) => {
		const shaped = E('div', { class: 'cbi-section' }, [E('h3', _('Status')), table(interfaces)]);
		return E([], [await settings().render(), shaped, tester()]);
	},
});
