// Reads the events about one subject, such as a node, oldest first.

import type { ApiClient } from '../platform/api-client.ts'

interface SubjectEvent {
  readonly type: string
  readonly reason: string
  readonly data: object
}

export async function eventsOf(api: ApiClient, subject: string): Promise<SubjectEvent[]> {
  const { body } = await api.get(`/api/v1/events?subject=${subject}&limit=500`)
  return Object(body['items'])
}

export const typesOf = async (api: ApiClient, subject: string): Promise<string[]> =>
  (await eventsOf(api, subject)).map(({ type, reason }) => `${type} ${reason}`)
