/** What an operator must look at, told to back ends too: once, however many nodes notice it. */
import type { Feed } from '../../engine/feed.ts';
import type { Announcement } from '../../protocol/feed.ts';
import type { ReferenceNotice } from '../../reference/port.ts';
import type { Log } from '../../support/log.ts';
import type { PoolFigures } from './pool-monitor.ts';

/** Nodes notice the same within a tick of each other; what lasts is said again after this. */
const DEDUPE_MS = 10 * 60_000;

export interface Alarms {
  readonly poolLow: (figures: PoolFigures) => void;
  readonly ledgerBehind: (notice: ReferenceNotice) => void;
}

export function createAlarms(feed: Feed, log: Log): Alarms {
  const tell = (announcement: Announcement): void => {
    feed.announce(announcement, DEDUPE_MS).catch((error: unknown) => {
      log.warn({ err: error, type: announcement.type }, 'an alarm did not reach the feed; it stands in the log');
    });
  };
  return {
    poolLow: ({ free, occupied, cooling, total }) => tell({ type: 'pool_low', free, occupied, cooling, total }),
    ledgerBehind(notice) {
      const { kind: _, ...figures } = notice;
      tell({ type: 'reference_alarm', ...figures });
    },
  };
}
