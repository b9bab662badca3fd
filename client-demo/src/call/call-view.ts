/** The view of the call. It renders a state and knows nothing of connections. */
import type { RoomCode } from '../../../src/client/index.ts';
import { grouped } from '../base/code.ts';
import { elementById, setLabel, setText } from '../base/elements.ts';
import type { Notice } from '../base/notice.ts';
import { showTitle } from '../base/views.ts';
import { Dialog } from '../dialogs/dialog.ts';
import { Invitation } from '../dialogs/invitation.ts';
import type { Speaker } from '../media/devices.ts';
import { Screen } from '../media/screen.ts';
import { texts } from '../texts/texts.ts';
import { type CallState, participantsOf } from './call-state.ts';
import { Chat } from './chat.ts';
import type { SendResult } from './chat-messages.ts';
import { Panel } from './panel.ts';
import { type HostActions, People } from './people.ts';
import { TileGrid } from './tile-grid.ts';

export interface CallActions extends HostActions {
  leave(): void;
  /** Resolves with the result as a sentence. */
  copyLink(): Promise<string>;
  say(text: string): Promise<SendResult>;
  toggleScreen(): void;
}

const code = elementById('call-code', HTMLElement);
const count = elementById('call-count', HTMLElement);
const locked = elementById('call-locked', HTMLElement);
const alone = elementById('alone', HTMLElement);
const screen = elementById('call-screen', HTMLButtonElement);

export class CallView {
  /** The first focus of the call. */
  readonly heading = elementById('call-heading', HTMLElement);
  readonly #notice: Notice;
  readonly #grid: TileGrid;
  readonly #chat: Chat;
  readonly #people: People;
  readonly #panel: Panel;
  readonly #invitations: readonly Invitation[];

  constructor(actions: CallActions, notice: Notice, speaker: Speaker) {
    this.#notice = notice;
    this.#grid = new TileGrid({ speaker, silenced: () => this.#askForSound() });
    this.#chat = new Chat((text) => actions.say(text));
    this.#people = new People(actions);
    this.#panel = new Panel(() => notice.hush());
    const places = [alone, elementById('invite-body', HTMLElement)];
    this.#invitations = places.map((root) => new Invitation(root, () => actions.copyLink()));
    const dialog = new Dialog(elementById('invite-dialog', HTMLDialogElement));
    elementById('call-invite', HTMLButtonElement).addEventListener('click', () => void dialog.open());
    const copy = async (): Promise<void> => notice.remark(await actions.copyLink());
    elementById('call-copy', HTMLButtonElement).addEventListener('click', () => void copy());
    elementById('call-leave', HTMLButtonElement).addEventListener('click', () => actions.leave());
    screen.hidden = !Screen.isPossible;
    screen.addEventListener('click', () => actions.toggleScreen());
    this.showSharing(false);
  }

  /** Resets the view for another room. */
  reset(room: RoomCode): void {
    this.#grid.clear();
    this.#people.clear();
    this.#chat.clear();
    this.#panel.reset();
    this.showCode(room);
  }

  showCode(room: RoomCode): void {
    showTitle(grouped(room));
    code.textContent = grouped(room);
    for (const invitation of this.#invitations) invitation.show(room);
  }

  show(state: CallState): void {
    const { room } = state;
    const participants = participantsOf(state);
    const away = participants.filter(({ member, isOwn }) => member.state === 'away' && !isOwn).length;
    setText(count, texts.person.count(participants.length - away, away));
    locked.hidden = !room.locked;
    alone.hidden = participants.length > 1;
    this.#grid.show(participants);
    this.#people.show(participants, room.locked);
  }

  showSharing(isSharing: boolean): void {
    screen.dataset['active'] = String(isSharing);
    setLabel(screen, isSharing ? texts.call.unshare : texts.call.share);
  }

  heard(name: string, text: string): void {
    this.#chat.heard(name, text);
    if (this.#panel.isChatOpen) return;
    this.#panel.unread();
    this.#notice.remark(texts.chat.said(name, text));
  }

  tell(event: string): void {
    this.#chat.tell(event);
    if (!this.#panel.isChatOpen) this.#notice.remark(event);
  }

  #askForSound(): void {
    const run = (): void => {
      void this.#grid.unmute();
      this.#notice.release('sound');
    };
    this.#notice.hold('sound', texts.call.soundBlocked, { label: texts.call.sound, run });
  }
}
