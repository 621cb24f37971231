// Responses that combine several records: the result of a write, a page of a list. plan.ts has the plan of a dry run.

import { type Infer, integer, list, nullable, object, optional, type Shape, string } from '../shapes/shape.ts'
import { deploymentRecordShape, deploymentStatusShape } from './deployment.ts'
import { listedEventShape } from './event.ts'
import { alterationShape, warningShape } from './rejection.ts'

export const pageShape = <T>(item: Shape<T>) => object({ items: list(item), nextCursor: nullable(string()) })

export const eventPageShape = object({
  ...pageShape(listedEventShape).fields,
  /** Cursor for requesting older events with `before`. Absent if all older events were already examined. */
  earlierCursor: optional(string()),
  /** Set if the server has already deleted events that follow the requested cursor. */
  truncated: optional(object({ after: string(), oldest: nullable(string()) })),
})
export type EventPage = Infer<typeof eventPageShape>

export const writtenShape = object({
  deployment: deploymentRecordShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})

/** A deployment that is being deleted, and what its deletion means for others; an older server sends no warnings. */
export const deletedDeploymentShape = object({
  ...deploymentRecordShape.fields,
  warnings: optional(list(warningShape)),
})
export type DeletedDeployment = Infer<typeof deletedDeploymentShape>

export const statusWithTimelineShape = object({
  ...deploymentStatusShape.fields,
  timeline: list(listedEventShape),
  /** Value for the parameter `before` of GET /events, to request the events that are older than this timeline. */
  earlierCursor: optional(string()),
})
export type StatusWithTimeline = Infer<typeof statusWithTimelineShape>

/** An item of GET /errors: one code of the catalogue. */
export const listedCodeShape = object({
  code: string(),
  status: integer(),
  alternativeStatus: optional(object({ status: integer(), when: string() })),
  field: string(),
  expected: string(),
  why: string(),
  doc: string(),
  capability: string(),
})
