/** Confirmation of an action that cannot be undone. */
import { elementById } from '../base/elements.ts';
import { Dialog } from './dialog.ts';

export interface Question {
  readonly heading: string;
  readonly lead: string;
  readonly yes: string;
  /** A checkbox in the dialog. */
  readonly option?: string;
}

const heading = elementById('confirm-heading', HTMLElement);
const lead = elementById('confirm-lead', HTMLElement);
const choice = elementById('confirm-choice', HTMLElement);
const option = elementById('confirm-option', HTMLInputElement);
const optionText = elementById('confirm-option-text', HTMLElement);
const yes = elementById('confirm-yes', HTMLButtonElement);
const dialog = new Dialog(elementById('confirm-dialog', HTMLDialogElement));

/** Resolves with null if it was cancelled, else with whether the checkbox was checked. */
export async function confirm(question: Question): Promise<{ readonly option: boolean } | null> {
  heading.textContent = question.heading;
  lead.textContent = question.lead;
  yes.textContent = question.yes;
  choice.hidden = question.option === undefined;
  optionText.textContent = question.option ?? '';
  option.checked = false;
  let isMeant = false;
  yes.onclick = () => {
    isMeant = true;
    dialog.close();
  };
  await dialog.open();
  return isMeant ? { option: option.checked } : null;
}
