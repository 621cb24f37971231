// The endpoint /api/v1/platform: the state of the control plane, for platform administrators.

import { platformShape } from '@holdfast/contract'
import { type PlatformDeps, readPlatform } from '../../operations/platform/read-platform.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'

export function platformEndpoint(deps: PlatformDeps): Endpoint {
  return endpoint('GET', '/api/v1/platform', {
    operation: 'getPlatform',
    action: 'metrics:read',
    summary: 'Read the state of the control plane: servers, shards, stores and the mass-failure hold',
    shape: platformShape,
    run: () => readPlatform(deps),
  })
}
