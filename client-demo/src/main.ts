import { App } from './app.ts';
import { fillIn } from './elements.ts';

fillIn(document);
const app = new App();
window.signalboxDemo = app;
void app.start();
