/** Socket.IO's types with the events of this protocol. */
import type { Server as IoServer, Socket as IoSocket } from 'socket.io';
import type { ClientToServerEvents, ServerToClientEvents } from '../../protocol/events.ts';
import type { Arrive, Outcome } from '../../room/commands.ts';

import type { Session } from './session.ts';

/** From the admission of a connection to its begin; the gateway releases it then. */
interface SocketData {
  admitted: { readonly session: Session; readonly arrived: Outcome<Arrive> };
}
type NoServerEvents = Record<never, never>;
export type Io = IoServer<ClientToServerEvents, ServerToClientEvents, NoServerEvents, SocketData>;
export type Socket = IoSocket<ClientToServerEvents, ServerToClientEvents, NoServerEvents, SocketData>;
