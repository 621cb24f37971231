export { startAgent } from './agent.ts'
export { bootClockMs } from './fencer/boot-clock.ts'
export { createFencerLink, type FencerLink } from './fencer/fencer-link.ts'
