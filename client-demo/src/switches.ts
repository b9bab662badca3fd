/** The buttons for microphone and camera. They stand in the lobby and in the call and show the same two states. */
import type { Camera } from './camera.ts';
import { part, setIcon } from './elements.ts';
import { texts } from './texts.ts';

export function bindSwitches(place: 'preview' | 'call', camera: Camera): void {
  const microphone = part(`${place}-microphone`, HTMLButtonElement);
  const picture = part(`${place}-camera`, HTMLButtonElement);
  const show = (): void => {
    const on = camera.presence;
    set(microphone, on.microphone, on.microphone ? texts.call.mute : texts.call.unmute, 'microphone');
    set(picture, on.camera, on.camera ? texts.call.cameraOff : texts.call.cameraOn, 'camera');
  };
  microphone.addEventListener('click', () => void camera.toggle('audio'));
  picture.addEventListener('click', () => void camera.toggle('video'));
  camera.onChange(show);
  show();
}

function set(button: HTMLButtonElement, on: boolean, label: string, name: string): void {
  // The label says what a press does, so it alone tells the state; `aria-pressed` besides would say it twice.
  button.ariaLabel = label;
  button.title = label;
  button.dataset['on'] = String(on);
  setIcon(button, on ? name : `${name}-off`);
}
