// A page records about itself: long tasks, layout shifts, the largest paint, the duration of inputs until the next paint,
// and when a condition was painted after a click.

import type { BrowserContext, Page } from 'playwright-core'

const RECORDER = `globalThis.recorded = { tasks: [], shifts: [], largest: 0, first: 0, inputs: {} };
(() => {
  const watch = (type, each, more = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true, ...more });
  watch('longtask', ({ startTime, duration }) => recorded.tasks.push({ startTime, duration }));
  watch('layout-shift', (shift) => { if (!shift.hadRecentInput) recorded.shifts.push(shift.value) });
  watch('largest-contentful-paint', ({ startTime }) => { recorded.largest = startTime });
  watch('paint', ({ name, startTime }) => { if (name === 'first-contentful-paint') recorded.first = startTime });
  watch('event', ({ interactionId, duration }) => {
    if (interactionId > 0) recorded.inputs[interactionId] = Math.max(duration, recorded.inputs[interactionId] ?? 0);
  }, { durationThreshold: 16 });
  // A frame that begins with the condition true is painted before the next task runs.
  globalThis.painted = (isShown, within) => new Promise((resolve, reject) => {
    const began = performance.now();
    const look = () => {
      if (isShown()) {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now());
        port2.postMessage(0);
      } else if (performance.now() - began > within) reject(new Error('not shown: ' + isShown));
      else requestAnimationFrame(look);
    };
    look();
  });
  // Looks from the click on, whenever the driver of the browser asks for the result.
  globalThis.afterClick = (isShown, within) => {
    recorded.shown = new Promise((resolve, reject) => addEventListener('click', ({ timeStamp }) => {
      painted(isShown, within).then((at) => resolve(at - timeStamp), reject);
    }, { capture: true, once: true }));
  };
})()`

export const recordPages = (context: BrowserContext): Promise<unknown> => context.addInitScript(RECORDER)

/** How long a page may take until the measurement fails. */
const WITHIN_MS = 120_000

/** Milliseconds from a click until an expression is true and painted. */
export async function clickToPaint(page: Page, isShown: string, click: () => Promise<void>): Promise<number> {
  await page.evaluate(`afterClick(() => ${isShown}, ${WITHIN_MS})`)
  await click()
  return Number(await page.evaluate('recorded.shown'))
}

/** The time of day, in milliseconds, at which an expression is true and painted. */
export async function paintedAt(page: Page, isShown: string): Promise<number> {
  return Number(
    await page.evaluate(`painted(() => ${isShown}, ${WITHIN_MS}).then((at) => performance.timeOrigin + at)`),
  )
}

export async function numbers(page: Page, expression: string): Promise<number[]> {
  const found: unknown = await page.evaluate(expression)
  return Array.isArray(found) ? found.map(Number) : []
}
