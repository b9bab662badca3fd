/** One call: connects the SDK's room and mesh with the own media and the view. */
import {
  type MediaKind,
  type Mesh,
  mesh as openMesh,
  type Peer,
  type PeerStats,
  type Room,
  type RoomEnding,
} from '../../../src/client/index.ts';
import { showInAddress } from '../base/code.ts';
import type { Notice } from '../base/notice.ts';
import type { Capture } from '../media/capture.ts';
import type { Screen } from '../media/screen.ts';
import { texts } from '../texts/texts.ts';
import { announceEvents } from './announcements.ts';
import type { CallView } from './call-view.ts';
import { ChatMessages, type SendResult } from './chat-messages.ts';
import { Meter } from './meter.ts';
import { nameOf, presenceOf, profileOf } from './person.ts';
import { QualityWatch } from './quality.ts';
import { TurnFaults } from './turn-faults.ts';

export interface CallSetup {
  readonly room: Room;
  readonly capture: Capture;
  readonly screen: Screen;
  readonly view: CallView;
  readonly notice: Notice;
  readonly isRelayOnly: boolean;
  onEnded(ending: RoomEnding): void;
}

const KINDS: readonly MediaKind[] = ['audio', 'video'];

export class Call {
  readonly room: Room;
  readonly mesh: Mesh;
  readonly #setup: CallSetup;
  readonly #chatMessages: ChatMessages;
  readonly #meter = new Meter();
  readonly #quality: QualityWatch;
  readonly #relay: TurnFaults;
  /** The state of camera and microphone sent last, as JSON. */
  #announced: string;
  /** The tracks sent now: only a different track is replaced. */
  #sent: Readonly<Record<MediaKind, MediaStreamTrack | null>>;

  constructor(setup: CallSetup) {
    const { room, capture, view, notice, isRelayOnly } = setup;
    this.#setup = setup;
    this.room = room;
    this.#sent = { ...capture.tracks };
    this.#announced = JSON.stringify(profileOf(presenceOf(room.self)));
    this.mesh = openMesh(room, { stream: capture.stream, iceTransportPolicy: isRelayOnly ? 'relay' : 'all' });
    this.#chatMessages = new ChatMessages(room, this.mesh, {
      heard: (from, text) => this.#nameOf(from, (name) => view.heard(name, text)),
      flooded: (from) => this.#nameOf(from, (name) => view.tell(texts.chat.flooded(name))),
    });
    this.#quality = new QualityWatch(this.mesh, this.#meter, () => this.#show());
    this.#relay = new TurnFaults(room, this.mesh, isRelayOnly, (words) =>
      words === null ? notice.release('relay') : notice.hold('relay', words),
    );
    view.reset(room.code);
    this.#listen();
    announceEvents(room, this.mesh, (words) => view.tell(words));
    this.captureChanged();
    this.screenChanged();
    this.#changed();
  }

  say(text: string): Promise<SendResult> {
    return this.#chatMessages.say(text);
  }

  /** Reads the counters of a connection. */
  stats(peer: Peer): Promise<PeerStats> {
    return this.#meter.look(peer);
  }

  captureChanged(): void {
    const { tracks } = this.#setup.capture;
    for (const kind of KINDS) if (tracks[kind] !== this.#sent[kind]) this.mesh.replaceTrack(kind, tracks[kind]);
    this.#sent = { ...tracks };
    void this.#announce();
    this.#show();
  }

  screenChanged(): void {
    const { screen, view, notice } = this.#setup;
    const isSharing = screen.stream !== null;
    this.mesh.share(screen.stream);
    view.showSharing(isSharing);
    if (!isSharing) notice.release('sharing');
    else notice.hold('sharing', texts.call.sharing, { label: texts.call.stopSharing, run: () => screen.stop() });
  }

  /** Ends media and view. Does not leave the room. */
  close(): void {
    this.#quality.stop();
    this.#relay.stop();
    this.mesh.close();
    for (const state of ['relay', 'sound', 'sharing'] as const) this.#setup.notice.release(state);
    this.#setup.screen.stop();
  }

  #listen(): void {
    const { room, mesh } = this;
    room.on('change', () => this.#changed());
    room.on('room:code-changed', ({ code }) => this.#setup.view.showCode(code));
    room.on('resumed', () => this.#returned(texts.connection.back));
    room.on('rejoined', () => this.#returned(texts.connection.rejoined));
    room.on('ended', (ending) => this.#setup.onEnded(ending));
    for (const name of ['peer', 'change', 'gone'] as const) mesh.on(name, () => this.#show());
  }

  #returned(words: string): void {
    this.#setup.notice.remark(words);
    void this.#announce();
    this.#changed();
  }

  #changed(): void {
    this.#setup.capture.fit(this.room.members.length);
    showInAddress(this.room.code);
    this.#show();
  }

  #show(): void {
    const { capture, view } = this.#setup;
    if (this.room.ending !== null) return;
    view.show({
      room: this.room.snapshot,
      own: this.room.self.userId,
      peers: this.mesh.peers,
      qualities: this.#quality.qualities,
      picture: capture.picture,
      isMirror: capture.isMirror,
    });
  }

  /** Sends whether camera and microphone are on, until it has succeeded. */
  async #announce(): Promise<void> {
    const profile = profileOf(this.#setup.capture.presence);
    const announcement = JSON.stringify(profile);
    if (announcement === this.#announced || this.room.ending !== null) return;
    this.#announced = announcement;
    try {
      await this.room.setProfile(profile);
    } catch {
      // Sent again with the next change, or after a reconnect.
      if (this.#announced === announcement) this.#announced = '';
    }
  }

  #nameOf(userId: string | null, tell: (name: string) => void): void {
    const member = this.room.members.find((one) => one.userId === userId);
    if (userId === null) tell(texts.chat.server);
    else if (member !== undefined) tell(nameOf(member));
  }
}
