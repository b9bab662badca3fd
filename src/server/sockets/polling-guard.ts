/**
 * The limit of frames for polling: one request carries as many packets as fit into its body. Counted at the transport, which
 * reports them in every state of its connection.
 */
import type { IncomingMessage } from 'node:http';
import { FrameBudget } from '../limits/frame-budget.ts';
import { type EngineConnection, terminate } from '../limits/terminate.ts';
import { markAnswered, type TransportGuard } from './guarded-websocket.ts';

interface PollingTransport {
  readonly name: string;
  on(event: 'packet', listener: (packet: { readonly type: string }) => void): unknown;
  off(event: 'packet', listener: (packet: { readonly type: string }) => void): unknown;
}

/** The part of an Engine.IO connection that is used here. */
export interface PollingConnection extends EngineConnection {
  /** `null` once the gateway has welcomed its client. */
  readonly request: IncomingMessage | null;
  readonly transport: EngineConnection['transport'] & PollingTransport;
  once(event: 'close', listener: () => void): unknown;
  once(event: 'upgrade', listener: (transport: object) => void): unknown;
}

/** @param address the client's. */
export function guardPolling(connection: PollingConnection, guard: TransportGuard, address: string): void {
  const { transport } = connection;
  const frames = new FrameBudget(guard.clock);
  // Also while it closes: the client may not know of that yet.
  const hasSession = () => connection.request === null;
  const count = ({ type }: { readonly type: string }): void => {
    const isMessage = type === 'message' && hasSession();
    if (isMessage ? frames.takeMessage(guard.limits, guard.clock) : frames.takeControl(guard.limits, guard.clock))
      return;
    transport.off('packet', count);
    guard.recordFault(address, 'flooded');
    terminate(connection);
  };
  transport.on('packet', count);
  connection.once('upgrade', (next) => markAnswered(next, address));
  connection.once('close', () => {
    if (connection.request !== null) guard.recordFault(address, 'ended');
  });
}
