/**
 * The transceivers of one connection. The first audio and the first video transceiver are those of microphone and camera:
 * created with the first offer and kept when empty, so that tracks are replaced without a negotiation. A screen has its own
 * transceivers after them, which the next share reuses. So on both sides the first transceiver of a kind is the camera's or
 * the microphone's, and all others are a screen's.
 */

import type { Outgoing } from './mesh-context.ts';

export const KINDS = ['audio', 'video'] as const;

export class Media {
  readonly #stream: MediaStream;
  readonly #rtc: RTCPeerConnection;
  readonly #outgoing: Outgoing;
  /** The transceivers that send our own screen, by kind. */
  readonly #ownScreen = new Map<string, RTCRtpTransceiver>();
  #screen: MediaStream | null = null;

  /** @param stream receives the tracks of their camera and microphone */
  constructor(rtc: RTCPeerConnection, outgoing: Outgoing, stream: MediaStream) {
    this.#stream = stream;
    this.#rtc = rtc;
    this.#outgoing = outgoing;
  }

  /** The screen that they share. */
  get screen(): MediaStream | null {
    return this.#screen;
  }

  /** Adds the transceivers of camera and microphone, for the first offer. */
  open(): void {
    for (const kind of KINDS) this.#rtc.addTransceiver(kind);
    this.sendTracks();
  }

  /** Sends the present tracks. */
  sendTracks(): void {
    for (const kind of KINDS) {
      const track = this.#outgoing[kind];
      // A peer without this SDK may have offered no transceiver of that kind: it is added with the first track.
      const transceiver = this.#cameraOf(kind) ?? (track && this.#rtc.addTransceiver(kind));
      if (transceiver) setSender(transceiver, track, 'sendrecv', this.#outgoing.cameraId);
      this.#sendScreen(kind, this.#outgoing.screen?.getTracks().find((one) => one.kind === kind) ?? null);
    }
  }

  /** Updates both streams with the tracks that the peer sends now. */
  receiveTracks(): void {
    const receiving = this.#rtc.getTransceivers().filter((one) => one.currentDirection?.includes('recv'));
    const camera = receiving.filter((one) => KINDS.some((kind) => one === this.#cameraOf(kind)));
    setTracks(this.#stream, camera);
    const screen = receiving.filter((one) => !camera.includes(one));
    this.#screen = screen.length > 0 ? (this.#screen ?? new MediaStream()) : null;
    if (this.#screen) setTracks(this.#screen, screen);
  }

  #cameraOf(kind: string): RTCRtpTransceiver | undefined {
    const ownScreen = [...this.#ownScreen.values()];
    return this.#rtc
      .getTransceivers()
      .find((one) => one.receiver.track.kind === kind && one.direction !== 'stopped' && !ownScreen.includes(one));
  }

  #sendScreen(kind: string, track: MediaStreamTrack | null): void {
    let transceiver = this.#ownScreen.get(kind);
    // Stopped: the peer has rejected it for good.
    if (transceiver?.direction === 'stopped') transceiver = undefined;
    if (track && !transceiver) {
      transceiver = this.#rtc.addTransceiver(kind, { direction: 'sendonly' });
      this.#ownScreen.set(kind, transceiver);
    }
    if (transceiver) setSender(transceiver, track, track ? 'sendonly' : 'inactive', this.#outgoing.screenId);
  }
}

function setSender(
  transceiver: RTCRtpTransceiver,
  track: MediaStreamTrack | null,
  direction: RTCRtpTransceiverDirection,
  stream: MediaStream,
): void {
  // Rejects if the connection is closed meanwhile.
  transceiver.sender.replaceTrack(track).catch(() => undefined);
  if (transceiver.direction !== direction) transceiver.direction = direction;
  transceiver.sender.setStreams(stream);
}

/** Makes the tracks of these transceivers the tracks of the stream. */
function setTracks(stream: MediaStream, transceivers: RTCRtpTransceiver[]): void {
  const tracks = transceivers.map(({ receiver }) => receiver.track);
  for (const track of stream.getTracks()) if (!tracks.includes(track)) stream.removeTrack(track);
  for (const track of tracks) stream.addTrack(track);
}
