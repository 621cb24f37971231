// Finds a volume by its name or id, because the API accepts only ids.

import { type Client, type Failure, type Result, readAll } from '@holdfast/client'
import { isVolumeId, type Volume } from '@holdfast/contract'

export async function listVolumes(client: Client): Promise<Result<readonly Volume[]>> {
  const listed = await readAll((page) => client.volumes.list(page))
  return listed.ok ? listed : { ok: false, failure: withoutEndpoint(listed.failure) }
}

/** Finds a volume. An unknown name is sent to the API as an id, so that the error message comes from the platform. */
export async function findVolume(client: Client, nameOrId: string): Promise<Result<Volume>> {
  if (isVolumeId(nameOrId)) return client.volumes.read(nameOrId)
  const listed = await listVolumes(client)
  if (!listed.ok) return listed
  const found = listed.value.find(({ name }) => name === nameOrId)
  if (found !== undefined) return { ok: true, value: found }
  const unknown = await client.volumes.read(nameOrId)
  return unknown.ok ? unknown : { ok: false, failure: acceptingNames(unknown.failure) }
}

/** A platform without volumes does not know their path. The rejection names the setting instead of the path. */
function withoutEndpoint(failure: Failure): Failure {
  return changeRejections(failure, 'not_found', {
    expected: 'a platform that manages volumes',
    why: 'Volume management is disabled on this platform. Its operator enables it with the setting volumes.enabled.',
  })
}

/** The API accepts ids only, and commands accept names, too. */
const acceptingNames = (failure: Failure): Failure =>
  changeRejections(failure, 'volume_not_found', {
    expected: 'the name or the id of a volume of this tenant; holdfast volume list lists them',
    why: 'This tenant has no volume with that name or id.',
  })

function changeRejections(
  failure: Failure,
  code: string,
  texts: { readonly expected: string; readonly why: string },
): Failure {
  if (failure.kind !== 'rejected') return failure
  const rejections = failure.rejections.map((each) => (each.code === code ? { ...each, ...texts } : each))
  return { ...failure, rejections }
}
