/** The Socket.IO event maps, derived from the table of messages. */
import type { z } from 'zod';
import type { ErrorBody } from './errors.ts';
import type { PUSHES, REQUESTS } from './messages.ts';

export type RequestName = keyof typeof REQUESTS;
export type RequestPayload<Name extends RequestName> = z.infer<(typeof REQUESTS)[Name]['payload']>;
/** What a client may write: the same before it was checked, so ids and codes are plain text. */
export type RequestInput<Name extends RequestName> = z.input<(typeof REQUESTS)[Name]['payload']>;
export type Reply<Name extends RequestName> = Particulars<z.infer<(typeof REQUESTS)[Name]['reply']>>;
/** An empty object adds nothing to what it is joined with; its own type would forbid everything else. */
type Particulars<Type> = Type extends Record<string, never> ? unknown : Type;

export type Acknowledgement<Name extends RequestName> = ({ ok: true } & Reply<Name>) | { ok: false; error: ErrorBody };

export type PushName = keyof typeof PUSHES;
export type Push<Name extends PushName> = z.infer<(typeof PUSHES)[Name]['body']>;

export type ClientToServerEvents = {
  [Name in RequestName]: (payload: RequestInput<Name>, acknowledge: (reply: Acknowledgement<Name>) => void) => void;
};

export type ServerToClientEvents = { [Name in PushName]: (body: Push<Name>) => void };
