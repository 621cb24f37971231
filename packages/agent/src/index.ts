export { startAgent } from './agent.ts'
