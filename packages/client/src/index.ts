export { type Client, type ClientOptions, createClient } from './client.ts'
export type { ClientRuntime, Exchange } from './connection.ts'
export type { AuditQuery } from './endpoints/activity.ts'
export type { SentDeployment, WhyQuery } from './endpoints/deployments.ts'
export type { SentJob } from './endpoints/jobs.ts'
export type { SentNetwork } from './endpoints/networks.ts'
export type { SentScaling } from './endpoints/scaling.ts'
export type { SentRotation, SentSecret } from './endpoints/secrets.ts'
export type { OfNode, SentVolume } from './endpoints/volumes.ts'
export {
  decodeExecFrame,
  type ExecOutput,
  encodeResize,
  encodeStdin,
  type WindowSize,
} from './exec-frames.ts'
export type { ChangeStreamItem } from './follow-changes.ts'
export type { EventFilter, EventStreamItem } from './follow-events.ts'
export type { ByteStream, StreamEnd } from './open-stream.ts'
export { type Page, type PageQuery, readAll, type ShortListQuery, walkPages } from './pages.ts'
export type { LogQuery, LogStreamItem } from './read-logs.ts'
export type { Written } from './responses.ts'
export type { Failure, Result } from './result.ts'
