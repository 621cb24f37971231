// Rules across fields: no deployment depends on itself, no two mounts share a target, no two routes share host and
// path, and no network is named twice.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import { ROOT_PATH, routeIdentity } from '../facts/route-identity.ts'
import { type CrossRefusal, type CrossRule, createRepeatCheck } from '../rule-engine/cross-rule.ts'

export const crossFieldRules: readonly CrossRule[] = [
  { code: 'dependency_invalid', at: 'dependsOn.*', needs: ['name'], refusals: dependsOnItself },
  { code: 'volume_mount_shape', at: 'volumes[*].target', needs: [], refusals: targetsTwice },
  { code: 'route_invalid', at: 'routes[*].path', needs: ['routes'], refusals: routesTwice },
  { code: 'placement_invalid', at: 'networks[*]', needs: ['networks'], refusals: networksTwice },
]

function dependsOnItself(merged: JsonObject): CrossRefusal[] {
  const { name, dependsOn } = merged
  if (typeof name !== 'string' || !isJsonObject(dependsOn) || !Object.hasOwn(dependsOn, name)) return []
  return [{ path: ['dependsOn', name], value: dependsOn[name] }]
}

function targetsTwice({ volumes }: JsonObject): CrossRefusal[] {
  if (!Array.isArray(volumes)) return []
  const isRepeat = createRepeatCheck()
  return volumes.flatMap((mount, index) => {
    const target = isJsonObject(mount) ? mount.target : undefined
    if (typeof target !== 'string') return []
    const params = { accepted: 'a target that no other mount has' }
    return isRepeat(target) ? [{ path: ['volumes', index, 'target'], value: target, params }] : []
  })
}

function routesTwice({ routes }: JsonObject): CrossRefusal[] {
  if (!Array.isArray(routes)) return []
  const isRepeat = createRepeatCheck()
  return routes.flatMap((route, index) => {
    const { host, path = ROOT_PATH } = isJsonObject(route) ? route : {}
    if (typeof host !== 'string' || typeof path !== 'string') return []
    const params = { accepted: 'a host and path that no other route of this deployment has' }
    return isRepeat(routeIdentity({ host, path }))
      ? [{ path: ['routes', index, 'path'], value: path, params }]
      : []
  })
}

function networksTwice({ networks }: JsonObject): CrossRefusal[] {
  if (!Array.isArray(networks)) return []
  const isRepeat = createRepeatCheck()
  const params = { accepted: 'a network that is named once' }
  return networks.flatMap((name, index) =>
    typeof name === 'string' && isRepeat(name) ? [{ path: ['networks', index], value: name, params }] : [],
  )
}
