export type { Written } from './answers.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { Exchange, World } from './connection.ts'
export type { SentDeployment } from './endpoints/deployments.ts'
export type { SentRotation, SentSecret } from './endpoints/secrets.ts'
export {
  decodeExecFrame,
  type ExecOutput,
  encodeResize,
  encodeStdin,
  type WindowSize,
} from './exec-frames.ts'
export type { EventFilter, EventNews } from './follow-events.ts'
export { type Page, type PageQuery, readAll, walkPages } from './pages.ts'
export type { LogNews, LogQuery } from './read-logs.ts'
export type { Failure, Result } from './result.ts'
