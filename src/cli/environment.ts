/**
 * The variables of the environment that are options. Other programs write into the same namespace: Kubernetes sets variables
 * for every Service of the namespace, Docker for every linked container, and a shell exports `HOST`.
 */
import { hostname } from 'node:os';
import { OptionError } from '../server/options/options.ts';
import { nearestTo } from './nearest.ts';
import { PREFIX } from './option-spellings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says: the texts of variables by name, and what an operator should know about the rest. */
export interface EnvironmentReading {
  readonly texts: ReadonlyMap<string, string>;
  readonly notices: readonly string[];
}

/**
 * Texts without white space at the ends: a file or a shell adds line ends that nobody sees. An empty variable counts as unset,
 * because compose files and unit files leave optional variables empty.
 *
 * @param known names of all variables that are options.
 * @throws OptionError for a SIGNALBOX_ variable that is no option, and for one of white space only.
 */
export function readEnvironment(environment: Environment, known: ReadonlySet<string>): EnvironmentReading {
  const texts = new Map<string, string>();
  const notices: string[] = [];
  for (const [name, given = ''] of Object.entries(environment)) {
    const text = given.trim();
    if (isMadeByOthers(name, text)) continue;
    if (!known.has(name)) {
      if (name.startsWith(PREFIX)) throw unknownOption(name, known);
      continue;
    }
    if (name === 'HOST' && isNameOfMachine(text)) notices.push(HOST_NOTICE);
    else if (text !== '') texts.set(name, text);
    else if (given !== '' && name !== 'HOST') throw new OptionError(name, 'there is nothing but white space in it');
  }
  return { texts, notices };
}

/** What Kubernetes and Docker set for a Service or a container `signalbox` or `signalbox-redis`: name, and text. */
const MADE_BY_OTHERS: readonly (readonly [RegExp, RegExp])[] = [
  [/_SERVICE_HOST$/, /^/],
  [/_SERVICE_PORT(_[A-Z0-9_]+)?$/, /^\d*$/],
  [/_PORT$/, /^(tcp|udp|sctp):\/\//],
  [/_PORT_\d+_(TCP|UDP|SCTP)(_[A-Z_]+)?$/, /^/],
  [/_ENV_./, /^/],
  [/_NAME$/, /^\//],
];

const isMadeByOthers = (name: string, text: string): boolean =>
  name.startsWith(PREFIX) && MADE_BY_OTHERS.some(([names, texts]) => names.test(name) && texts.test(text));

/**
 * tcsh exports the name of the machine as HOST, and conda the target of its compiler. Nothing else is passed over: a server that
 * ignored the address that it was given would listen on all.
 */
const isNameOfMachine = (host: string): boolean =>
  host.toLowerCase() === hostname().toLowerCase() ? host !== 'localhost' : COMPILER_TARGET.test(host);

/** Such as x86_64-conda-linux-gnu, arm64-apple-darwin20.0.0 and i686-w64-mingw32. */
const COMPILER_TARGET =
  /^[a-z0-9_]+-[a-z0-9_]+-((linux|freebsd|netbsd|openbsd)(-?[a-z0-9]+)*|darwin[\d.]*|mingw(32|64)|msvc|cygwin)$/i;

const HOST_NOTICE =
  'the variable HOST has the name of this machine or of a compiler target, so it is not taken for the option host; ' +
  'to listen on that name, set SIGNALBOX_HOST';

function unknownOption(name: string, known: ReadonlySet<string>): OptionError {
  const ours = [...known].filter((other) => other.startsWith(PREFIX)).map((other) => other.slice(PREFIX.length));
  const nearest = nearestTo(name.slice(PREFIX.length), ours);
  const hint = nearest === undefined ? '' : ` (did you mean ${PREFIX}${nearest}?)`;
  return new OptionError(name, `no such option${hint}; see signalbox serve --help`);
}
