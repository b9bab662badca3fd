/** Preview of the own camera in the lobby. */
import { elementById, setText } from '../base/elements.ts';
import type { Capture } from '../media/capture.ts';
import { texts } from '../texts/texts.ts';

const video = elementById('preview-video', HTMLVideoElement);
const note = elementById('preview-note', HTMLElement);

export function bindPreview(capture: Capture): void {
  const show = (): void => {
    if (video.srcObject !== capture.picture) video.srcObject = capture.picture;
    video.dataset['mirror'] = String(capture.isMirror);
    setText(note, noteOn(capture));
    note.dataset['over'] = capture.presence.camera ? 'picture' : 'nothing';
  };
  capture.onChange(show);
  show();
}

function noteOn({ asking, faults, presence, tracks }: Capture): string {
  if (asking) return texts.camera.asking;
  if (presence.camera) return faults.audio === 'missing' ? texts.camera.noMicrophone : '';
  if (faults.video === null) return texts.camera.off;
  return faults.video === 'missing' && tracks.audio !== null ? texts.camera.noCamera : texts.camera[faults.video];
}
