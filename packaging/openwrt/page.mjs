// Prints the options on the page of LuCI, a line each: the type of their section, and their name.
// The page is run with stand-ins for the modules of LuCI.
import { readFileSync } from 'node:fs';

const page = new URL('root/www/luci-static/resources/view/fathom.js', import.meta.url);
class Section {
	constructor(type) {
		this.type = type;
	}
	option(kind, name) {
		if (!kind) throw new Error(`${this.type}.${name} is of no kind that LuCI has`);
		console.log(this.type, name);
		return { value() {}, depends() {} };
	}
}
const form = {
	Map: class {
		section(kind, ...names) {
			return new Section(kind === form.NamedSection ? names[1] : names[0]);
		}
		async render() {}
	},
	NamedSection: {}, TypedSection: {}, Flag: {}, Value: {}, ListValue: {}, DynamicList: {},
};
const modules = { form, fs: {}, poll: {}, ui: { createHandlerFn() {} }, view: { extend: (methods) => methods } };
const html = { E: () => ({}), _: (text) => text };
const names = Object.keys({ ...modules, ...html });
const view = new Function(...names, readFileSync(page, 'utf8'))(...Object.values({ ...modules, ...html }));
await view.render([]);
