/** A call record as JSON. The public field is called `sessions`; in the code, the seat of a user in a call is a participant. */
import type { Call, CallParticipant } from '../../../records/port.ts';

export type CallJson = Omit<Call, 'participants'> & { sessions: CallParticipant[] };

export const callJson = ({ participants, ...rest }: Call): CallJson => ({ ...rest, sessions: [...participants] });
