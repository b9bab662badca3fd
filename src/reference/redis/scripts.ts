/** The scripts of references, each put together from what they share and its own file. */
import { composeScript, luaBeside } from '../../redis/script.ts';

const readLua = luaBeside(import.meta.url);

const compose = (name: string, shared: readonly string[]) => composeScript(readLua(name), shared.map(readLua));

export const loadScripts = () => ({ take: compose('take', ['blocks', 'calendar']), add: compose('add', ['blocks']) });
