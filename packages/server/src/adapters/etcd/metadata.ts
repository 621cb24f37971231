// The gRPC metadata of a call to etcd: the auth token, and whether a member without a leader may answer.

import { Metadata } from '@grpc/grpc-js'

export function metadataOf(token: string | undefined, needsLeader: boolean): Metadata {
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('token', token)
  if (needsLeader) metadata.set('hasleader', 'true')
  return metadata
}
