/** The list of members, with the quality of their connections and the actions of a host. */
import type { Member } from '../../../src/client/index.ts';
import { createHtml, elementById, icon, setLabel, setText } from '../base/elements.ts';
import { KeyedList } from '../base/keyed-list.ts';
import { confirm } from '../dialogs/confirm.ts';
import { initialsOf, texts } from '../texts/texts.ts';
import { keyOf, type Participant } from './call-state.ts';
import { nameOf, presenceOf } from './person.ts';
import { QualityBars } from './quality.ts';

export interface HostActions {
  lock(locked: boolean): void;
  remove(member: Member, ban: boolean): void;
  end(): void;
}

const list = elementById('people', HTMLUListElement);
const heading = elementById('people-heading', HTMLElement);
const tools = elementById('host-tools', HTMLElement);
const lock = elementById('host-lock', HTMLInputElement);
const end = elementById('host-end', HTMLButtonElement);

export class People {
  readonly #actions: HostActions;
  readonly #lines = new KeyedList<Line>(list);

  constructor(actions: HostActions) {
    this.#actions = actions;
    lock.addEventListener('change', () => actions.lock(lock.checked));
    end.addEventListener('click', () => void this.#end());
  }

  show(participants: readonly Participant[], isLocked: boolean): void {
    const isHost = participants.some(({ isOwn, member }) => isOwn && member.role === 'host');
    const hadFocus = list.contains(document.activeElement);
    this.#lines.keep(participants.map(keyOf));
    for (const one of participants) {
      this.#lines.get(keyOf(one), () => new Line((member) => void this.#remove(member))).show(one, isHost);
    }
    // The member with the focus has left, and the focus is lost.
    if (hadFocus && !list.contains(document.activeElement)) heading.focus();
    tools.hidden = !isHost;
    lock.checked = isLocked;
  }

  clear(): void {
    this.#lines.keep([]);
  }

  async #remove(member: Member): Promise<void> {
    const answer = await confirm({
      heading: texts.host.removeHeading(nameOf(member)),
      lead: texts.host.removeLead,
      option: texts.host.ban,
      yes: texts.host.removeYes,
    });
    if (answer !== null) this.#actions.remove(member, answer.option);
  }

  async #end(): Promise<void> {
    const { endHeading, endLead, endYes } = texts.host;
    if ((await confirm({ heading: endHeading, lead: endLead, yes: endYes })) !== null) this.#actions.end();
  }
}

class Line {
  readonly element = createHtml('li', 'person');
  readonly #initials = createHtml('span', 'person-initials');
  readonly #name = createHtml('span', 'person-name');
  readonly #facts = createHtml('span', 'person-facts');
  readonly #host = createHtml('span', 'badge', texts.person.host);
  readonly #muted = mark('microphone-off', texts.person.muted);
  readonly #cameraOff = mark('camera-off', texts.person.cameraOff);
  readonly #bars = new QualityBars();
  readonly #remove = createHtml('button', 'round small');
  #member: Member | undefined;

  constructor(remove: (member: Member) => void) {
    this.#initials.ariaHidden = 'true';
    // The label beside the icon says the same.
    this.#bars.element.ariaHidden = 'true';
    this.#remove.type = 'button';
    this.#remove.ariaHasPopup = 'dialog';
    this.#remove.append(icon('remove'));
    this.#remove.addEventListener('click', () => this.#member && remove(this.#member));
    const words = createHtml('span', 'person-words');
    const first = createHtml('span', 'person-first');
    first.append(this.#name, this.#host);
    words.append(first, this.#facts);
    this.element.append(this.#initials, words, this.#muted, this.#cameraOff, this.#bars.element, this.#remove);
  }

  show({ member, isOwn, link, quality }: Participant, isHost: boolean): void {
    this.#member = member;
    const name = nameOf(member);
    const presence = presenceOf(member);
    setText(this.#initials, initialsOf(name));
    setText(this.#name, isOwn ? texts.person.you(name) : name);
    setText(this.#facts, isOwn ? '' : factsOf(member, link, quality?.words));
    this.#host.hidden = member.role !== 'host';
    this.#muted.hidden = presence.microphone;
    this.#cameraOff.hidden = presence.camera;
    this.#bars.show(quality);
    this.#remove.hidden = isOwn || !isHost;
    setLabel(this.#remove, texts.host.remove(name));
    this.element.dataset['state'] = isOwn ? 'present' : member.state;
    this.element.dataset['tone'] = String(member.seq % 6);
  }
}

function factsOf(member: Member, link: Participant['link'], words: string | undefined): string {
  if (member.state === 'away') return texts.person.away;
  if (link === 'connected') return words ?? '';
  return link === 'failed' ? texts.person.unreachable : texts.person.connecting;
}

function mark(name: string, words: string): HTMLElement {
  const element = createHtml('span', 'person-mark');
  element.title = words;
  element.append(icon(name), createHtml('span', 'visually-hidden', words));
  return element;
}
