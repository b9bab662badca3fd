/** The text for the end of a call; null if the user has ended it. */
import type { RoomEnding } from '../../src/client/index.ts';
import type { Ending } from './base/views.ts';
import { failureText, texts } from './texts/texts.ts';

/** @param isByUs whether this user has closed the room. */
export function endingOf({ reason, error }: RoomEnding, isByUs: boolean): Omit<Ending, 'way'> | null {
  const { ended } = texts;
  switch (reason) {
    case 'left':
      return null;
    case 'kicked':
    case 'banned':
    case 'replaced':
      return ended[reason];
    case 'refused':
      return {
        heading: ended.lost.heading,
        lead: error === undefined ? texts.errors.NOT_IN_ROOM() : failureText(error),
      };
    case 'closed':
      if (isByUs) return ended.byUs;
      return { heading: ended.closed.heading, lead: ended.closed.lead.closed };
    default:
      return { heading: ended.closed.heading, lead: ended.closed.lead[reason] };
  }
}
