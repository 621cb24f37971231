// Finds a network by its name or id, because the API accepts only ids.

import { type Client, type Failure, type Result, readAll } from '@holdfast/client'
import { isNetworkId, type Network } from '@holdfast/contract'

export const listNetworks = (client: Client): Promise<Result<readonly Network[]>> =>
  readAll((page) => client.networks.list(page))

/** Finds a network. An unknown name is sent to the API as an id, so that the error message comes from the platform. */
export async function findNetwork(client: Client, nameOrId: string): Promise<Result<Network>> {
  if (isNetworkId(nameOrId)) return client.networks.read(nameOrId)
  const listed = await listNetworks(client)
  if (!listed.ok) return listed
  const found = listed.value.find(({ name }) => name === nameOrId)
  if (found !== undefined) return { ok: true, value: found }
  const unknown = await client.networks.read(nameOrId)
  return unknown.ok ? unknown : { ok: false, failure: acceptingNames(unknown.failure) }
}

/** The API accepts ids only, and commands accept names, too. */
function acceptingNames(failure: Failure): Failure {
  if (failure.kind !== 'rejected') return failure
  const texts = {
    expected: 'the name or the id of a network of this tenant; holdfast network list lists them',
    why: 'This tenant has no network with that name or id.',
  }
  const rejections = failure.rejections.map((each) =>
    each.code === 'network_not_found' ? { ...each, ...texts } : each,
  )
  return { ...failure, rejections }
}
