/**
 * What is sent and received in one connection. It has one place for audio and one for video from the beginning, filled
 * or not: so camera and microphone come and go without a negotiation. A screen gets places of its own behind them, kept
 * for the next time. Hence the rule for both sides: the first of a kind is the camera's, whatever else comes in is a
 * screen.
 */

import type { Outgoing } from './mesh-context.ts';

export const KINDS = ['audio', 'video'] as const;

export class Media {
  readonly #stream: MediaStream;
  readonly #connection: RTCPeerConnection;
  readonly #outgoing: Outgoing;
  /** Of our own screen. */
  readonly #screens = new Map<string, RTCRtpTransceiver>();
  #screen: MediaStream | null = null;

  /** @param stream takes the tracks of camera and microphone that come in */
  constructor(connection: RTCPeerConnection, outgoing: Outgoing, stream: MediaStream) {
    this.#stream = stream;
    this.#connection = connection;
    this.#outgoing = outgoing;
  }

  get screen(): MediaStream | null {
    return this.#screen;
  }

  /** Opens the places for the first offer. */
  open(): void {
    for (const kind of KINDS) this.#connection.addTransceiver(kind);
    this.fill();
  }

  /** Sends what is to be sent by now. */
  fill(): void {
    for (const kind of KINDS) {
      const track = this.#outgoing[kind];
      // A peer that is not ours may have left out a place: it is opened when there is something for it.
      const place = this.#place(kind) ?? (track && this.#connection.addTransceiver(kind));
      if (place) put(place, track, 'sendrecv', this.#outgoing.cameraId);
      this.#fillScreen(kind, this.#outgoing.screen?.getTracks().find((one) => one.kind === kind) ?? null);
    }
  }

  /** Takes what comes in by now. */
  look(): void {
    const incoming = this.#connection.getTransceivers().filter((one) => one.currentDirection?.includes('recv'));
    const camera = incoming.filter((one) => KINDS.some((kind) => one === this.#place(kind)));
    hold(this.#stream, camera);
    const screen = incoming.filter((one) => !camera.includes(one));
    this.#screen = screen.length > 0 ? (this.#screen ?? new MediaStream()) : null;
    if (this.#screen) hold(this.#screen, screen);
  }

  #place(kind: string): RTCRtpTransceiver | undefined {
    const screens = [...this.#screens.values()];
    return this.#connection
      .getTransceivers()
      .find((one) => one.receiver.track.kind === kind && one.direction !== 'stopped' && !screens.includes(one));
  }

  #fillScreen(kind: string, track: MediaStreamTrack | null): void {
    let place = this.#screens.get(kind);
    // The other side may have refused it for good.
    if (place?.direction === 'stopped') place = undefined;
    if (track && !place) {
      place = this.#connection.addTransceiver(kind, { direction: 'sendonly' });
      this.#screens.set(kind, place);
    }
    if (place) put(place, track, track ? 'sendonly' : 'inactive', this.#outgoing.screenId);
  }
}

function put(
  place: RTCRtpTransceiver,
  track: MediaStreamTrack | null,
  direction: RTCRtpTransceiverDirection,
  stream: MediaStream,
): void {
  // Closed meanwhile: then there is nothing to fill.
  place.sender.replaceTrack(track).catch(() => undefined);
  if (place.direction !== direction) place.direction = direction;
  place.sender.setStreams(stream);
}

/** Leaves exactly those tracks in the stream. */
function hold(stream: MediaStream, transceivers: RTCRtpTransceiver[]): void {
  const tracks = transceivers.map(({ receiver }) => receiver.track);
  for (const track of stream.getTracks()) if (!tracks.includes(track)) stream.removeTrack(track);
  for (const track of tracks) stream.addTrack(track);
}
