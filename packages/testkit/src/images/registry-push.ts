// Pushes images with the OCI distribution API.

import { type Blob, MANIFEST_TYPE, type SampleImage } from './sample-image.ts'

/** A registry on a busy machine may take this long to store a layer. */
const DEADLINE_MS = 30_000

export interface RegistryAccess {
  readonly url: string
  /** HTTP headers sent with every call; empty if the registry needs no authentication. */
  readonly headers: { readonly [name: string]: string }
}

/** Pushes an image and points the tag at it; returns the digest of its manifest. */
export async function pushImage(
  access: RegistryAccess,
  repository: string,
  tag: string,
  image: SampleImage,
): Promise<string> {
  for (const blob of [...image.layers, image.config]) await pushBlob(access, repository, blob)
  await call(access, `${access.url}/v2/${repository}/manifests/${tag}`, {
    method: 'PUT',
    headers: { 'content-type': MANIFEST_TYPE },
    body: new Uint8Array(image.manifest.bytes),
  })
  return image.manifest.digest
}

export async function deleteManifest(
  access: RegistryAccess,
  repository: string,
  digest: string,
): Promise<void> {
  await call(access, `${access.url}/v2/${repository}/manifests/${digest}`, { method: 'DELETE' })
}

async function pushBlob(access: RegistryAccess, repository: string, blob: Blob): Promise<void> {
  const begun = await call(access, `${access.url}/v2/${repository}/blobs/uploads/`, { method: 'POST' })
  const upload = new URL(begun.headers.get('location') ?? '', access.url)
  upload.searchParams.set('digest', blob.digest)
  await call(access, upload.href, { method: 'PUT', body: new Uint8Array(blob.bytes) })
}

async function call(access: RegistryAccess, url: string, init: RequestInit): Promise<Response> {
  const headers = { 'content-type': 'application/octet-stream', ...access.headers, ...init.headers }
  const answer = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(DEADLINE_MS) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${init.method} ${url} answered ${answer.status}: ${text.slice(0, 300)}`)
  return answer
}
