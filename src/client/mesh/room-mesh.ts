/** The mesh of a room: one peer for every other member, and the media sent to all of them. */

import type { Json, UserId } from '../../protocol/index.ts';
import { Emitter, type Unsubscribe } from '../emitter.ts';
import type { Room, RoomEvents } from '../room.ts';
import { type PageClock, pageRuntime } from '../runtime.ts';
import { uniqueId } from '../unique-id.ts';
import { KINDS } from './media.ts';
import type { MediaKind, Mesh, MeshEvents, MeshOptions, Peer } from './mesh.ts';
import type { MeshContext, Outgoing } from './mesh-context.ts';
import { MeshPeer } from './mesh-peer.ts';
import { readSignal } from './signals.ts';

const MAX_EARLY_SIGNALS = 200;

/** Connects with every other member of the room, present and to come, until it is closed. */
export function mesh(room: Room, options: MeshOptions = {}): Mesh {
  return new RoomMesh(room, options, pageRuntime.clock);
}

class RoomMesh extends Emitter<MeshEvents> implements Mesh {
  readonly peers = new Map<UserId, MeshPeer>();
  readonly #room: Room;
  readonly #outgoing: Outgoing = {
    audio: null,
    video: null,
    screen: null,
    cameraId: new MediaStream(),
    screenId: new MediaStream(),
  };
  readonly #context: MeshContext;
  readonly #listening: Unsubscribe[];
  #seq: number;
  /** Signals from senders that are no members yet. */
  #early: RoomEvents['signal'][] = [];
  #isClosed = false;

  constructor(room: Room, { stream = null, iceTransportPolicy = 'all' }: MeshOptions, clock: PageClock) {
    super();
    this.#room = room;
    this.#seq = room.self.seq;
    this.#context = {
      room,
      events: this,
      outgoing: this.#outgoing,
      clock,
      page: uniqueId(),
      offerCount: 0,
      // `max-bundle`: one transport for all tracks needs fewer candidates, and no track can fail alone.
      configuration: () => ({ iceServers: [...room.iceServers], iceTransportPolicy, bundlePolicy: 'max-bundle' }),
    };
    this.#listening = [
      room.on('change', () => this.#sync()),
      room.on('rejoined', () => this.#sync()),
      room.on('resumed', () => this.#each((peer) => peer.refresh())),
      room.on('signal', (signal) => this.#receive(signal)),
      room.on('ice', () =>
        this.#each(({ connection }) => connection?.rtc.setConfiguration(this.#context.configuration())),
      ),
      room.on('ended', () => this.close()),
    ];
    this.setStream(stream);
    // In a microtask, so that the caller can add its listeners first. `hello` is sent without a delay: after a refresh of
    // this page, the other members do not know the new page yet.
    queueMicrotask(() => (room.ending ? this.close() : this.#sync(0)));
  }

  setStream(stream: MediaStream | null): void {
    for (const kind of KINDS) this.#outgoing[kind] = stream?.getTracks().find((track) => track.kind === kind) ?? null;
    this.#updateTracks();
  }

  replaceTrack(kind: MediaKind, track: MediaStreamTrack | null): void {
    this.#outgoing[kind] = track;
    this.#updateTracks();
  }

  share(screen: MediaStream | null): void {
    for (const track of this.#outgoing.screen?.getTracks() ?? [])
      track.removeEventListener('ended', this.#onTrackEnded);
    this.#outgoing.screen = this.#isClosed ? null : screen;
    for (const track of this.#outgoing.screen?.getTracks() ?? []) track.addEventListener('ended', this.#onTrackEnded);
    this.#updateTracks();
    this.emit('share', this.#outgoing.screen);
  }

  send(data: Json): Peer[] {
    return [...this.peers.values()].filter((peer) => !peer.send(data));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stop of this.#listening) stop();
    if (this.#outgoing.screen) this.share(null);
    this.#each((peer) => this.#drop(peer));
  }

  /** After the browser's own button has ended a share. Waits for the last track, for a single negotiation. */
  readonly #onTrackEnded = (): void => {
    if (this.#outgoing.screen?.getTracks().every(({ readyState }) => readyState === 'ended')) this.share(null);
  };

  #each(act: (peer: MeshPeer) => void): void {
    for (const peer of this.peers.values()) act(peer);
  }

  #updateTracks(): void {
    this.#each(({ connection }) => connection?.updateTracks());
  }

  /** Updates the peers to the members of the room. A member with another `seq` has another seat: a new peer. */
  #sync(helloMs?: number): void {
    const { self, members } = this.#room;
    const hasNewSeat = self.seq !== this.#seq;
    this.#seq = self.seq;
    this.#each((peer) => {
      const member = members.find(({ userId, seq }) => userId === peer.userId && seq === peer.member.seq);
      if (!member) this.#drop(peer);
      else {
        peer.update(member);
        if (hasNewSeat) peer.reset();
      }
    });
    for (const member of members) {
      if (this.#isClosed || member.userId === self.userId || this.peers.has(member.userId)) continue;
      const peer = new MeshPeer(this.#context, member);
      this.peers.set(member.userId, peer);
      this.emit('peer', peer);
      peer.begin(helloMs);
    }
    for (const signal of this.#early.splice(0)) this.#receive(signal);
  }

  #drop(peer: MeshPeer): void {
    peer.close();
    this.peers.delete(peer.userId);
    this.emit('gone', peer);
  }

  #receive(signal: RoomEvents['signal']): void {
    const peer = this.peers.get(signal.from);
    if (peer) peer.receive(readSignal(signal.data));
    // A signal may overtake the event that its sender has joined.
    else if (this.#early.push(signal) > MAX_EARLY_SIGNALS) this.#early.shift();
  }
}
