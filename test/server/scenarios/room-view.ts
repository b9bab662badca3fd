/** The room as a client rebuilds it: a snapshot, and the events after it in the order of their revisions. */
import type { PushName } from '../../../src/protocol/events.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import type { RoomEvent, RoomEventName } from '../../../src/room/outcomes.ts';
import { replay } from '../../room/replay.ts';
import type { TestClient } from '../../support/client.ts';

const CHANGES: ReadonlySet<PushName> = new Set<RoomEventName>([
  'member:joined',
  'member:left',
  'member:away',
  'member:back',
  'member:updated',
  'host:changed',
  'room:updated',
  'room:closed',
]);

/**
 * Every change after the snapshot that the client has heard of. Events of two nodes may overtake each other, and the
 * reply to a join may be overtaken by an event: the revision tells where each belongs.
 */
function eventsSince(client: TestClient, { ref, rev }: RoomSnapshot): RoomEvent[] {
  return client.heard
    .filter((push): push is RoomEvent => CHANGES.has(push.name) && 'rev' in push.body)
    .filter(({ body }) => body.ref === ref && body.rev > rev)
    .sort((a, b) => a.body.rev - b.body.rev);
}

/**
 * The room as the client knows it.
 *
 * @throws RangeError when it has missed an event, or heard one twice.
 */
export function roomSeenBy(client: TestClient, snapshot: RoomSnapshot): RoomSnapshot | null {
  return eventsSince(client, snapshot).reduce<RoomSnapshot | null>(replay, snapshot);
}
