/** When the last client has gone, rooms end in time, their codes are free after the cool-down, and no key is left behind. */
import type { Law } from './run.ts';

export const quietAtEnd: Law = ({ quiet, limits }) => {
  if (quiet === null) return [];
  const { lastClientAt: at, emptyAt, freeAt, strayKeys } = quiet;
  return [
    ...(emptyAt === null ? [`codes were occupied ${limits.emptyWithinMs} ms after the last client`] : []),
    ...(emptyAt !== null && freeAt === null ? [`codes were not free ${limits.freeWithinMs} ms after that`] : []),
    ...(strayKeys.length === 0 ? [] : [`${strayKeys.length} keys are left in Redis, such as ${strayKeys[0]}`]),
  ].map((text) => ({ at, text }));
};
