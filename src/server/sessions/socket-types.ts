/** Socket.IO's types with the events of this protocol. */
import type { Server as IoServer, Socket as IoSocket } from 'socket.io';
import type { ClientToServerEvents, ServerToClientEvents } from '../../protocol/events.ts';
import type { Arrive, Outcome } from '../../room/commands.ts';

import type { Session } from './session.ts';

/** From the admission of a connection to its begin; the gateway releases it then. */
interface SocketData {
  admitted: { readonly session: Session; readonly arrived: Outcome<Arrive> };
}
/** An event that is JSON text already: between nodes too it is one string, which the packet parser writes as it is. */
export const EVENT_AS_TEXT = 'text';
type EmittedEvents = ServerToClientEvents & { readonly [EVENT_AS_TEXT]: (event: string) => void };
type NoServerEvents = Record<never, never>;
export type Io = IoServer<ClientToServerEvents, EmittedEvents, NoServerEvents, SocketData>;
export type Socket = IoSocket<ClientToServerEvents, EmittedEvents, NoServerEvents, SocketData>;
