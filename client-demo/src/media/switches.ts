/** The buttons for microphone and camera, in the lobby and in the call, with the same state. */
import type { MediaKind } from '../../../src/client/index.ts';
import { elementById, setIcon, setLabel } from '../base/elements.ts';
import { texts } from '../texts/texts.ts';
import type { Capture, CaptureFault } from './capture.ts';

export function bindSwitches(
  place: 'preview' | 'call',
  capture: Capture,
  failed: (kind: MediaKind, fault: CaptureFault) => void,
): void {
  const microphone = elementById(`${place}-microphone`, HTMLButtonElement);
  const camera = elementById(`${place}-camera`, HTMLButtonElement);
  const show = (): void => {
    const on = capture.presence;
    set(microphone, on.microphone, on.microphone ? texts.call.mute : texts.call.unmute, 'microphone');
    set(camera, on.camera, on.camera ? texts.call.cameraOff : texts.call.cameraOn, 'camera');
  };
  const toggle = async (kind: MediaKind): Promise<void> => {
    const fault = await capture.toggle(kind);
    if (fault !== null) failed(kind, fault);
  };
  microphone.addEventListener('click', () => void toggle('audio'));
  camera.addEventListener('click', () => void toggle('video'));
  capture.onChange(show);
  show();
}

function set(button: HTMLButtonElement, on: boolean, label: string, name: string): void {
  // The label names the action, and so the state; with `aria-pressed` a screen reader would say it twice.
  setLabel(button, label);
  button.dataset['on'] = String(on);
  setIcon(button, on ? name : `${name}-off`);
}
