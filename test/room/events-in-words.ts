import type { RoomEvent } from '../../src/room/outcomes.ts';

/** The events of an outcome, a line each: `3 member:left ann kicked`. None for a refusal. */
export function eventsOf(outcome: object | undefined): string[] {
  if (outcome === undefined || !('events' in outcome)) return [];
  return (outcome.events as readonly RoomEvent[]).map(inWords); // of whatever outcome
}

function inWords({ name, body }: RoomEvent): string {
  const who =
    'member' in body ? body.member.userId : 'userId' in body ? body.userId : 'hostId' in body ? body.hostId : undefined;
  const why = 'reason' in body ? body.reason : undefined;
  return [body.rev, name, who === null ? 'nobody' : who, why].filter((word) => word !== undefined).join(' ');
}
