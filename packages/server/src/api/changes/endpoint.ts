// The endpoint /api/v1/changes/stream: which records of the tenant changed.

import { string } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { done, type Outcome, refused } from '../../operations/caller.ts'
import type { ChangeLog } from '../../operations/changes/change-log.ts'
import type { Store } from '../../store/store.ts'
import { type ApiRequest, type Endpoint, endpoint, type StreamedResponse } from '../endpoint.ts'
import { EVENT_STREAM } from '../streams/event-stream.ts'
import { type ChangeStream, openChangeStream } from './change-stream.ts'

export interface ChangeEndpointDeps {
  readonly store: Pick<Store, 'fresh'>
  readonly changes: ChangeLog
  /** Whether this server has every change that was acknowledged before the call. */
  isCurrent(): Promise<boolean>
}

export function changeEndpoint(deps: ChangeEndpointDeps): Endpoint {
  return endpoint('GET', '/api/v1/changes/stream', {
    operation: 'followChanges',
    action: 'events:read',
    summary:
      'Follow which records of the tenant change, as Server-Sent Events: id is the revision, event is `changes` or `resync`, data names the records. After `resync` read everything again. An id alone, once a second, reports that nothing changed',
    headers: ['Last-Event-ID'],
    streams: true,
    shape: string(),
    type: EVENT_STREAM,
    handle: (request) => follow(deps, request),
  })
}

const REVISION = /^\d{1,15}$/

async function follow(
  { store, changes, isCurrent }: ChangeEndpointDeps,
  { caller, lastEventId }: ApiRequest,
): Promise<Outcome<StreamedResponse>> {
  if (lastEventId !== undefined && !REVISION.test(lastEventId)) {
    const accepted = 'the id of a message from the stream, for example 1042'
    return refused(reject('header_invalid', 'Last-Event-ID', lastEventId, { accepted }))
  }
  await store.fresh()
  let stream: ChangeStream | undefined
  const follower = changes.follow(caller.tenant, {
    from: lastEventId === undefined ? undefined : Number(lastEventId),
    onChange: () => stream?.changed(),
  })
  stream = openChangeStream(follower, { isCurrent })
  return done(stream)
}
