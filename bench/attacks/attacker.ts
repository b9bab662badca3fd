/** The process of one attack: `attacker.ts NAME URL SECONDS`. */
import type { Side } from '../sides.ts';
import { ATTACKS } from './attacks.ts';

const [name = '', url = '', seconds = '0'] = process.argv.slice(2);
const attack = ATTACKS[name];
if (attack === undefined) throw new Error(`no attack is called ${name}`);
const side = { name: 'ours', url } as Side; // as much of it as clients need
await attack({ side, forMs: Number(seconds) * 1_000 });
process.exit();
