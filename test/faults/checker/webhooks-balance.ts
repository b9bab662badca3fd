/** Every event of the feed has reached the receiver, and no event that the feed does not have and never had. */
import { lastForgottenAt } from './excuses.ts';
import type { Law } from './run.ts';

export const webhooksBalance: Law = (run) => {
  const taken = new Set(run.webhooks);
  const missing = run.feed.filter(({ id }) => !taken.has(id)).map(({ id }) => id);
  const known = new Set(run.feed.map(({ id }) => id));
  // A store that has forgotten its feed has sent what it no longer has.
  const unknown = Number.isFinite(lastForgottenAt(run)) ? [] : [...taken].filter((id) => !known.has(id));
  const tell = (ids: readonly string[], how: string) =>
    ids.length === 0 ? [] : [{ at: 0, text: `${ids.length} events ${how}, such as ${ids[0]}` }];
  return [
    ...tell(missing, 'of the feed did not reach the receiver'),
    ...tell(unknown, 'reached it and are not in the feed'),
  ];
};
