// Finds the id of a node of the test lab through the tenant's API.

import type { ApiClient } from '@holdfast/testkit/platform/api-client'

export async function nodeIdOf(api: ApiClient, name: string): Promise<string> {
  const { body } = await api.get('/api/v1/nodes')
  const found = Object.values(Object(body['items'])).find((each) => Object(each).name === name)
  if (found === undefined) throw new Error(`no node is named ${name}`)
  return String(Object(found).id)
}
