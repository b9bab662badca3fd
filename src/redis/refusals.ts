/** Error replies of a Redis that is there and does not do what it is asked. */
import { ErrorReply } from 'redis';

/** How Redis begins its reply when a script runs a command, or uses a key or a channel, that its user may not. */
const NOT_PERMITTED_IN_SCRIPT = /^ERR (ACL failure in script|The user executing the script can't)\b/;
/** Replies while Redis cannot serve. Any other one is a bug of ours. */
const UNAVAILABLE =
  /^(READONLY|MOVED|ASK|CLUSTERDOWN|TRYAGAIN|OOM|LOADING|BUSY|UNKILLABLE|MASTERDOWN|NOREPLICAS|MISCONF|UNBLOCKED|NOPERM|NOAUTH|WRONGPASS)\b/;
/** Those that are about one key or one call: another one may succeed at the same moment. */
const OF_ONE_CALL = /^(MOVED|ASK|TRYAGAIN|UNBLOCKED|NOPERM)$/;
/** A primary that has been demoted, or a replica: the name may lead to another server by now. */
const NO_PRIMARY = /^(READONLY|MASTERDOWN)$/;

/** The code of an error reply. What is not permitted has one code, inside of scripts too. */
export function firstWordOf({ message }: ErrorReply): string {
  return NOT_PERMITTED_IN_SCRIPT.test(message) ? 'NOPERM' : (/^\S+/.exec(message)?.[0] ?? 'ERR');
}

/** Whether this is how Redis says that it cannot serve, not that it was asked wrongly. */
export const saysUnavailable = (error: unknown): boolean =>
  error instanceof ErrorReply && UNAVAILABLE.test(firstWordOf(error));

/** The first word of a reply by which Redis refuses to work for anybody; undefined for any other error. */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof ErrorReply) || !saysUnavailable(error)) return undefined;
  const word = firstWordOf(error);
  return OF_ONE_CALL.test(word) ? undefined : word;
}

export const isNoPrimary = (refusal: string): boolean => NO_PRIMARY.test(refusal);
