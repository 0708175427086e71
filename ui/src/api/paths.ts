// Where the two APIs are.
export const V2 = "/api/assisted-install/v2";
export const V1 = "/api/firstlight/v1";
