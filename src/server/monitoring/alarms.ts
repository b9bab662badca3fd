/** Alarms for operators, published in the feed: deduplicated, because all nodes notice the same condition. */
import type { Feed } from '../../engine/feed.ts';
import type { Announcement } from '../../protocol/feed.ts';
import type { ReferenceNotice } from '../../reference/port.ts';
import type { Log } from '../../support/log.ts';
import type { PoolFigures } from './pool-monitor.ts';

/** Deduplication window: nodes raise the same alarm within one tick, and a lasting condition raises it again after this. */
const DEDUPE_MS = 10 * 60_000;

export interface Alarms {
  readonly poolLow: (figures: PoolFigures) => void;
  readonly ledgerBehind: (notice: ReferenceNotice) => void;
}

export function createAlarms(feed: Feed, log: Log): Alarms {
  const publish = (announcement: Announcement): void => {
    feed.announce(announcement, DEDUPE_MS).catch((error: unknown) => {
      log.warn({ err: error, type: announcement.type }, 'an alarm could not be published in the feed');
    });
  };
  return {
    poolLow: ({ free, occupied, cooling, total }) => publish({ type: 'pool_low', free, occupied, cooling, total }),
    ledgerBehind(notice) {
      const { kind: _, ...figures } = notice;
      publish({ type: 'reference_alarm', ...figures });
    },
  };
}
