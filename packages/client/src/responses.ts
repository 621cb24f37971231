// Schemas of responses that the contract package does not define.

import { type Infer, list, object, type Shape, type writtenShape } from '@holdfast/contract'

/** The response of a list that is not paged. */
export const itemsShape = <T>(item: Shape<T>) => object({ items: list(item) })

export type Written = Infer<typeof writtenShape>
