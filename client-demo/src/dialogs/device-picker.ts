/** Selection of camera, microphone, and speaker if the browser allows it. */
import { createHtml } from '../base/elements.ts';
import type { Capture } from '../media/capture.ts';
import type { Devices, Speaker } from '../media/devices.ts';
import { texts } from '../texts/texts.ts';

interface Choice {
  readonly kind: MediaDeviceKind;
  readonly label: string;
  /** The id of the device that is in use. */
  readonly used: () => string;
  readonly choose: (id: string) => void;
}

export interface Equipment {
  readonly capture: Capture;
  readonly devices: Devices;
  readonly speaker: Speaker;
}

export function bindDevicePicker(root: HTMLElement, { capture, devices, speaker }: Equipment): void {
  const used = (kind: 'audio' | 'video') => capture.tracks[kind]?.getSettings().deviceId ?? '';
  const choices: readonly Choice[] = [
    {
      kind: 'videoinput',
      label: texts.devices.camera,
      used: () => used('video'),
      choose: (id) => void capture.choose('video', id),
    },
    {
      kind: 'audioinput',
      label: texts.devices.microphone,
      used: () => used('audio'),
      choose: (id) => void capture.choose('audio', id),
    },
    {
      kind: 'audiooutput',
      label: texts.devices.speaker,
      used: () => speaker.id,
      choose: (id) => speaker.choose(id),
    },
  ];
  const shown = choices.filter(({ kind }) => kind !== 'audiooutput' || speaker.canBeChosen);
  const shows = shown.map((choice) => bindChoice(root, choice, devices));
  const show = (): void => {
    for (const one of shows) one();
  };
  devices.onChange(show);
  capture.onChange(show);
  show();
}

/** @returns a function that updates the lists. */
function bindChoice(root: HTMLElement, { kind, label, used, choose }: Choice, devices: Devices): () => void {
  const field = createHtml('label', 'field device');
  const select = createHtml('select', 'select');
  field.append(createHtml('span', 'field-name', label), select);
  root.append(field);
  select.addEventListener('change', () => choose(select.value));
  return () => {
    const options = devices.of(kind).map(({ deviceId, label: name }, index) => {
      // Chromium's label of the default device is in the browser's language, not in that of the page.
      const words = deviceId === 'default' ? texts.devices.standard : name || texts.devices.unnamed(index + 1);
      return new Option(words, deviceId);
    });
    select.disabled = options.length === 0;
    const nothing = devices.isHiding(kind) ? texts.devices.hidden : texts.devices.none;
    select.replaceChildren(...(options.length === 0 ? [new Option(nothing, '')] : options));
    const id = used();
    if (options.some(({ value }) => value === id)) select.value = id;
  };
}
