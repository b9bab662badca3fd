import { App } from './app.ts';
import { fillIn } from './elements.ts';
import type { SignalboxDemo } from './surface.ts';

declare global {
  interface Window {
    signalboxDemo?: SignalboxDemo;
  }
}

fillIn(document);
const app = new App();
window.signalboxDemo = app;
void app.start();
