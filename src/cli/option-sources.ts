/** Errors about an option name the flag or variable that it came from: `host` may come from a `HOST` that nobody remembers. */
import { OptionError } from '../server/options/options.ts';

/** @returns the error, with the source of the option that its message begins with. */
export function withSource(error: unknown, sources: ReadonlyMap<string, string>): unknown {
  if (!(error instanceof Error)) return error;
  const [, option = '', reason = ''] = /^(\w+): (.*)$/s.exec(error.message) ?? [];
  const source = sources.get(option);
  if (source === undefined) return error;
  const said = `${reason} (from ${source.startsWith('-') ? '' : 'the variable '}${source})`;
  return error instanceof OptionError
    ? new OptionError(option, said)
    : new Error(`${option}: ${said}`, { cause: error });
}
