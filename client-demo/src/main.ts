import { App } from './app.ts';
import { fillIn } from './base/elements.ts';
import type { SignalboxDemo } from './demo-api.ts';
import { texts } from './texts/texts.ts';

declare global {
  interface Window {
    signalboxDemo?: SignalboxDemo;
  }
}

document.documentElement.lang = texts.lang;
fillIn(document);
const app = new App();
window.signalboxDemo = app;
void app.start();
