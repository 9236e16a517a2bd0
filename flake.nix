{
  description = "Measures, finds, explains and fixes bufferbloat";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      workspace = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
      package = pkgs: pkgs.rustPlatform.buildRustPackage {
        pname = "fathom";
        version = workspace.version;
        src = self;
        cargoLock.lockFile = ./Cargo.lock;
        cargoBuildFlags = [ "-p" "fathom-cli" ];
        # The tests make network namespaces.
        doCheck = false;
        postInstall = ''
          packaging/files $out $out/bin/fathom
          sed -i "s,/usr/bin/fathom,$out/bin/fathom," $out/lib/systemd/system/*.service
        '';
        meta = {
          description = "Measures, finds, explains and fixes bufferbloat";
          license = with pkgs.lib.licenses; [ mit asl20 ];
          mainProgram = "fathom";
          platforms = pkgs.lib.platforms.linux;
        };
      };
    in
    {
      packages = nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
    };
}
