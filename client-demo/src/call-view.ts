/** The call on the screen: tiles, people, chat, switches. It shows what it is told and knows nothing of connections. */
import type { Member, RoomSnapshot, UserId } from '../../src/protocol/index.ts';
import type { Camera } from './camera.ts';
import { Chat } from './chat.ts';
import { grouped } from './code.ts';
import { make, part } from './elements.ts';
import type { LinkState } from './mesh.ts';
import { bindSwitches } from './switches.ts';
import { texts } from './texts.ts';
import { nameOf, Tile } from './tile.ts';

export interface CallViewEvents {
  leave: () => void;
  copyLink: () => void;
  say: (text: string) => Promise<string | null>;
  /** The browser plays nobody's sound until there is a click. */
  silenced: () => void;
}

const body = part('call', HTMLElement);
const code = part('call-code', HTMLElement);
const count = part('call-count', HTMLElement);
const tiles = part('tiles', HTMLUListElement);
const alone = part('alone', HTMLElement);
const aloneCode = part('alone-code', HTMLElement);
const people = part('people', HTMLUListElement);
const panelSwitch = part('call-panel', HTMLButtonElement);
const wide = window.matchMedia('(min-width: 60rem)');

export class CallView {
  readonly chat: Chat;
  readonly #events: CallViewEvents;
  readonly #camera: Camera;
  readonly #tiles = new Map<UserId, Tile>();
  readonly #links = new Map<UserId, LinkState>();
  readonly #streams = new Map<UserId, MediaStream>();
  #own: UserId | undefined;

  constructor(events: CallViewEvents, camera: Camera) {
    this.#events = events;
    this.#camera = camera;
    this.chat = new Chat(events.say);
    bindSwitches('call', camera);
    camera.onChange(() => this.#showPicture());
    part('call-leave', HTMLButtonElement).addEventListener('click', events.leave);
    part('call-copy', HTMLButtonElement).addEventListener('click', events.copyLink);
    panelSwitch.addEventListener('click', () => this.#showPanel(body.dataset['panel'] !== 'open'));
  }

  reset(): void {
    for (const tile of this.#tiles.values()) tile.remove();
    this.#tiles.clear();
    this.#links.clear();
    this.#streams.clear();
    this.chat.clear();
    this.#showPanel(wide.matches);
  }

  show(room: RoomSnapshot, own: UserId): void {
    const { members } = room;
    this.#own = own;
    code.textContent = grouped(room.code);
    aloneCode.textContent = grouped(room.code);
    const away = members.filter(({ state }) => state === 'away').length;
    const words = texts.person.count(members.length - away, away);
    if (count.textContent !== words) count.textContent = words;
    alone.hidden = members.length > 1;
    this.#showTiles(members, own);
    people.replaceChildren(...members.map((member) => personLine(member, own)));
  }

  setStream(of: UserId, stream: MediaStream): void {
    this.#streams.set(of, stream);
    const tile = this.#tiles.get(of);
    if (tile !== undefined) tile.stream = stream;
  }

  setLink(of: UserId, link: LinkState): void {
    this.#links.set(of, link);
  }

  said(name: string, text: string): void {
    this.chat.say(name, text, false);
    if (body.dataset['panel'] !== 'open') {
      panelSwitch.dataset['unread'] = 'true';
      panelSwitch.ariaLabel = texts.call.unread;
    }
  }

  saidByMe(text: string): void {
    this.chat.say(texts.person.me, text, true);
  }

  /** Must be called from a click. */
  async playAll(): Promise<void> {
    await Promise.allSettled([...this.#tiles.values()].map((tile) => tile.play()));
  }

  #showTiles(members: readonly Member[], own: UserId): void {
    const present = new Set(members.map(({ userId }) => userId));
    for (const [userId, tile] of this.#tiles) {
      if (present.has(userId)) continue;
      tile.remove();
      this.#tiles.delete(userId);
      this.#links.delete(userId);
      this.#streams.delete(userId);
    }
    tiles.dataset['count'] = String(members.length);
    for (const member of members) {
      const tile = this.#tiles.get(member.userId) ?? this.#addTile(member.userId, member.userId === own);
      tile.show(member, this.#links.get(member.userId));
    }
  }

  #showPicture(): void {
    const own = this.#own === undefined ? undefined : this.#tiles.get(this.#own);
    if (own !== undefined) own.stream = this.#camera.picture;
  }

  #addTile(userId: UserId, own: boolean): Tile {
    const tile = new Tile(own, this.#events.silenced);
    const stream = own ? this.#camera.picture : this.#streams.get(userId);
    tile.stream = stream ?? null;
    this.#tiles.set(userId, tile);
    tiles.append(tile.element);
    return tile;
  }

  #showPanel(open: boolean): void {
    body.dataset['panel'] = open ? 'open' : 'closed';
    panelSwitch.ariaExpanded = String(open);
    if (!open) return;
    panelSwitch.dataset['unread'] = 'false';
    panelSwitch.ariaLabel = texts.call.panel;
  }
}

function personLine(member: Member, own: UserId): HTMLLIElement {
  const line = make('li', 'person');
  const name = nameOf(member);
  line.dataset['state'] = member.state;
  line.dataset['tone'] = String(member.seq % 6);
  line.append(
    make('span', 'light'),
    make('span', 'person-name', member.userId === own ? texts.person.you(name) : name),
  );
  if (member.role === 'host') line.append(make('span', 'badge', texts.person.host));
  line.append(make('span', 'person-state', member.state === 'away' ? texts.person.away : texts.person.present));
  return line;
}
